"""Entries in README.md and docs/ are those of opweave or of an example, whose tests run them, or are woven here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness.paths import ROOT
from pages import PAGES, Block, blocks
from weaving import python, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import WeaveError, read

TESTED = [*ROOT.glob("examples/*.yaml"), ROOT / "ops.yaml"]
BLOCKS = [block for page in PAGES for block in blocks(page, "yaml")]


def is_tested(block: Block) -> bool:
    """Tell whether the tests of other files run all entries of a block, as they are here."""
    known = [path.read_text("utf-8") for path in TESTED]
    entries = re.split(r"\n(?=- )", block.text.strip())
    return all(any(f"{entry.strip()}\n" in text for text in known) for entry in entries)


def test_examples_have_tests() -> None:
    folder = ROOT / "tests" / "weave"
    paths = [*folder.glob("*.py"), ROOT / "library" / "demo" / "__main__.py"]  # which compares with NumPy
    tests = "".join(path.read_text("utf-8") for path in paths)
    assert [path.name for path in TESTED if path.name not in tests] == []


def test_blocks_are_entries() -> None:
    """Parts of entries could be checked by nothing."""
    parts = [block for block in BLOCKS if not block.text.startswith(("- func: ", "- function: "))]
    assert [f"{block.page}:{block.line}" for block in parts] == []


def in_float32(text: str) -> list[dict[str, Any]]:
    """Entries whose kernels are of one dtype, which take the shortest time to compile."""
    made: list[dict[str, Any]] = yaml.safe_load(text)
    for entry in made:
        if "func" in entry and entry.get("dtypes", "any") != "any":
            entry["dtypes"] = ["float32"]
        if entry.get("derivatives") == "auto":
            entry["derivatives"] = "none"
    return made


def test_the_others_are_woven(tmp_path: Path) -> None:
    """Of each name the first one, in one package; every one is read with all that it says."""
    chosen: dict[str, dict[str, Any]] = {}
    for block in BLOCKS:
        if is_tested(block):
            continue
        file = tmp_path / "page.yaml"
        file.write_text(block.text, "utf-8")
        try:
            read(file, "page")
        except WeaveError as error:
            raise AssertionError(f"{block.page.name}:{block.line}: {error}") from None
        for entry in in_float32(block.text):
            chosen.setdefault(re.split(r"[.(]", entry.get("func") or entry["function"])[0], entry)
    assert len(chosen) > 20
    file = tmp_path / "shown.yaml"
    file.write_text(yaml.safe_dump([*chosen.values()], sort_keys=False, width=1000), "utf-8")
    woven = weave_unoptimized(file, out=tmp_path)
    assert len(woven.operators) >= len(chosen) - 3
    called = "import opweave as ow, shown; assert shown.box(ow.ones(4), 1).tolist() == [2, 3, 3, 2]"
    python("-c", called, cwd=tmp_path)
