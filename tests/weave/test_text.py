"""Operators that are woven from a text: available at once, and replaced when the text changes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import opweave
import pytest
from opweave._toolchain import object_cache
from opweave._weave.weave import WeaveError
from weaving import python

# A literal in a program is indented as the program is.
TEXT = """
    - func: {name}(Tensor self) -> Tensor
      doc: Scales and adds one.
      elementwise: self * {factor} + 1
      dtypes: floating
      derivatives: auto

    - func: {name}_twice(Tensor self) -> Tensor
      doc: The same again.
      composite: return self.{name}().{name}()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, for processes that are started; this one's folder of texts stays what it is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_operators_of_a_text_are_there_at_once() -> None:
    module = opweave.weave_text(TEXT.format(name="text_scaled", factor=2))
    x = opweave.ones(2, requires_grad=True)
    assert module.text_scaled(x).tolist() == [3.0, 3.0]
    y = x.text_scaled_twice()  # type: ignore[attr-defined]
    assert y.tolist() == [7.0, 7.0]
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4.0, 4.0]
    assert opweave.weave_text(TEXT.format(name="text_scaled", factor=2)) is module


def test_a_changed_text_takes_the_place_of_the_one_before() -> None:
    x = opweave.ones(1)
    first = opweave.weave_text(TEXT.format(name="text_edited", factor=2))
    second = opweave.weave_text(TEXT.format(name="text_edited", factor=3))
    assert x.text_edited_twice().tolist() == [13.0]  # type: ignore[attr-defined]
    assert first.text_edited(x).tolist() == [3.0]
    assert second.text_edited(x).tolist() == [4.0]
    assert opweave.weave_text(TEXT.format(name="text_edited", factor=2)) is first
    assert x.text_edited_twice().tolist() == [7.0]  # type: ignore[attr-defined]


def test_mistakes_are_at_their_lines_and_columns_of_the_text() -> None:
    with pytest.raises(WeaveError) as caught:
        opweave.weave_text(TEXT.format(name="text_wrong", factor="factor"))
    assert str(caught.value).splitlines()[:3] == [
        "<text>:4:27: error: unknown name 'factor'",
        "    4 |       elementwise: self * factor + 1",
        "      |                           ^^^^^^",
    ]
    with pytest.raises(WeaveError, match=r"<text>:2:13: error: function 'exp' already exists in opweave"):
        opweave.weave_text(TEXT.format(name="exp", factor=2))
    with pytest.raises(WeaveError, match=r"<text>:1:1: error: expected a list of entries, got a text"):
        opweave.weave_text("softplus")
    with pytest.raises(TypeError, match=r"weave_text\(\): argument 'text' must be str, not bytes"):
        opweave.weave_text(b"")  # type: ignore[arg-type]


def test_what_another_process_has_woven_needs_no_compiler(tmp_path: Path) -> None:
    code = f"""
import opweave
opweave.weave_text({TEXT.format(name="text_kept", factor=2)!r})
print(opweave.ones(1).text_kept().item())
"""
    assert python("-c", code, cwd=tmp_path).stdout == "3.0\n"
    assert python("-c", code, cwd=tmp_path, CC="no_such_compiler").stdout == "3.0\n"


def test_where_there_is_no_cache_packages_last_as_long_as_the_process(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    code = f"""
import opweave
opweave.weave_text({TEXT.format(name="text_gone", factor=2)!r})
print(opweave.ones(1).text_gone().item())
"""
    done = python("-c", code, cwd=tmp_path, HOME="", XDG_CACHE_HOME="", TMPDIR=str(tmp_path / "temporary"))
    assert done.stdout == "3.0\n"
    assert list((tmp_path / "temporary").iterdir()) == []


def test_packages_that_nothing_has_used_for_long_are_removed(cache: Path) -> None:
    folder = object_cache.users_folder("texts")
    assert folder is not None
    for name, age in (("woven_old", 31), ("woven_new", 29)):
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
        os.utime(folder / name, (time.time() - age * 24 * 3600,) * 2)
    object_cache.remove_unused(folder)
    assert [path.name for path in folder.iterdir()] == ["woven_new"]
