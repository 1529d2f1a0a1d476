"""The instruction-set levels that a package is compiled for, and those that are added where a process needs them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from weaving import TINY, python

pytest.importorskip("opweave")

import opweave
from opweave._toolchain import isa_levels, toolchain
from opweave._weave.weave import weave
from opweave.codegen import generate


@pytest.fixture
def yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Declarations in a folder from which packages are imported."""
    path = tmp_path / f"levels_of_{tmp_path.name}.yaml"
    path.write_text(TINY.format(name=f"half_{tmp_path.name}"))
    monkeypatch.syspath_prepend(tmp_path)
    return path


def there(folder: Path) -> list[str]:
    """The levels in the folder of a package."""
    return sorted(path.stem.rpartition("-")[2] for path in folder.glob("_kernels-*.so"))


def imported(yaml: Path) -> Any:
    sys.modules.pop(yaml.stem, None)
    importlib.invalidate_caches()
    return importlib.import_module(yaml.stem)


def result(yaml: Path) -> list[float]:
    values: list[float] = getattr(imported(yaml), f"half_{yaml.parent.name}")(opweave.ones(2)).tolist()
    return values


def lacking(yaml: Path) -> Path:
    """A package that was woven on another machine, whose level this process lacks."""
    folder = weave(yaml, out=yaml.parent).folder
    for path in folder.glob("_kernels-*.so"):
        path.unlink()
    return folder


def test_a_package_is_compiled_for_this_process_and_for_others_when_asked(yaml: Path) -> None:
    woven = weave(yaml, out=yaml.parent)
    assert there(woven.folder) == [isa_levels.own()]
    assert not weave(yaml, out=yaml.parent).rebuilt
    everything = list(toolchain.configured().levels)
    more = weave(yaml, out=yaml.parent, all_levels=True)
    assert (more.rebuilt, more.operators) == (len(everything) > 1, woven.operators)
    assert there(woven.folder) == everything
    assert not weave(yaml, out=yaml.parent, all_levels=True).rebuilt
    assert not weave(yaml, out=yaml.parent).rebuilt
    # What is compiled anew leaves none behind that was compiled before.
    weave(yaml, out=yaml.parent, force=True)
    assert there(woven.folder) == [isa_levels.own()]


def test_a_level_below_is_used_as_it_is(yaml: Path) -> None:
    code = f"from opweave.weave import weave; weave({str(yaml)!r}, out={str(yaml.parent)!r})"
    python("-c", code, cwd=yaml.parent, OPWEAVE_ISA="x86-64")
    assert there(yaml.parent / yaml.stem) == ["v1"]
    assert result(yaml) == [1.5, 1.5]
    assert there(yaml.parent / yaml.stem) == ["v1"]
    weave(yaml, out=yaml.parent)
    assert there(yaml.parent / yaml.stem) == sorted({"v1", isa_levels.own()})


def test_a_level_that_is_missing_is_compiled_when_the_package_is_imported(yaml: Path) -> None:
    folder = lacking(yaml)
    assert result(yaml) == [1.5, 1.5]
    assert there(folder) == [isa_levels.own()]


def test_what_cannot_be_kept_is_compiled_for_the_process(yaml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lacking(yaml)

    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(generate, "replace", refuse)
    assert result(yaml) == [1.5, 1.5]
    assert there(folder) == []


def test_where_there_is_no_compiler_the_package_says_what_it_needs(yaml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(yaml)
    monkeypatch.setenv("CC", "no_such_compiler")
    expected = (
        f"^{yaml.stem} was woven for no level, this process runs at x86-64[-v34]*, and it cannot be compiled for that: "
        "CC names the compiler 'no_such_compiler', which cannot be found\nweave it with --all-levels"
    )
    with pytest.raises(ImportError, match=expected):
        imported(yaml)
