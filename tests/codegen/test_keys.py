"""docs/adding-an-operator.md explains every key, tag and word of ops.yaml, and no others; there are few of them."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.dtypes import Promotion
from codegen.model.naming import WORDS
from codegen.model.operator import AUTOCAST
from codegen.read.entry import BODY_KEYS, KEYS
from codegen.read.tags import NUMBERS, OUTS, TAGS

TEXT = (Path(__file__).parents[2] / "docs" / "adding-an-operator.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)[^`]*` \|(.*)$", TEXT, re.MULTILINE))


def words(key: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", ROWS[key]))


def test_the_tables_have_a_row_for_every_key() -> None:
    assert set(ROWS) | {"func", "doc"} == set(KEYS)
    assert set(BODY_KEYS) < set(KEYS)


def test_the_rows_explain_every_word() -> None:
    assert set(TAGS) <= words("tags")
    assert set(OUTS) <= words("out")
    assert set(WORDS) <= words("names")
    assert set(AUTOCAST) <= words("autocast")
    assert {*NUMBERS, *(kind.value for kind in Promotion)} <= words("promotion")


def test_there_are_few_keys_and_tags() -> None:
    assert len(KEYS) <= 32
    assert len(TAGS) <= 10
