"""docs/adding-an-operator.md explains every key, tag and word of ops.yaml, and no others; there are few of them."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.dtypes import Promotion
from codegen.library import read
from codegen.model.operator import AUTOCAST
from codegen.model.rules import NAMING, WORDS
from codegen.read.entry import body_keys, keys
from codegen.read.tags import NUMBERS, OUTS, TAGS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "adding-an-operator.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL))


def words(key: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", SECTIONS[key]))


def test_there_is_a_section_for_every_key() -> None:
    assert set(SECTIONS) | {"func", "doc"} == set(keys())
    assert set(body_keys()) < set(keys())


def test_examples_are_entries(tmp_path: Path) -> None:
    """Those of opweave's own file as it has them, all others without a mistake."""
    own = (ROOT / "ops.yaml").read_text(encoding="utf-8")
    examples = [each for text in SECTIONS.values() for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    assert len(examples) >= len(body_keys())
    path = tmp_path / "examples.yaml"
    path.write_text("\n".join(each for each in examples if each not in own))
    assert len(read(path)) > len(examples) / 2


def test_the_sections_explain_every_word() -> None:
    assert set(TAGS) <= words("tags")
    assert set(OUTS) <= words("out")
    assert set(WORDS) <= words("rule")
    assert set(NAMING) <= words("names") | words("rule")
    assert set(AUTOCAST) <= words("autocast")
    assert {*NUMBERS, *(kind.value for kind in Promotion)} <= words("promotion")


def test_there_are_few_keys_and_tags() -> None:
    assert len(keys()) <= 34
    assert len(TAGS) <= 12
