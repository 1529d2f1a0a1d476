"""Entries that are read one by one are those of the whole file."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.library import Entries, read

TEXT = """\
# A file.
- version: 1

- func: first(Tensor self) -> Tensor
  doc: A text.
  elementwise: twice(self)

# ---- others ----

- function: twice(x)
  value: x + x

- {func: "second(Tensor self, Tensor other) -> Tensor", like: first, doc: Other., elementwise: self * other}
- func:   third(Tensor self, Tensor other) -> Tensor
  like: second
  doc: |
    A text of several lines.

    - func: none(Tensor self) -> Tensor.
  elementwise: self - other
- func: second_of_all(Tensor self, Tensor other) -> Tensor
  like: third
  elementwise: self + other
"""


@pytest.mark.parametrize("breaks", ["\n", "\r\n"])
def test_entries(tmp_path: Path, breaks: str) -> None:
    path = tmp_path / "ops.yaml"
    path.write_bytes(TEXT.replace("\n", breaks).encode("utf-8-sig"))
    whole = {each.name: each for each in read(path, sound=True)}
    entries = Entries(path)
    for name in ("second_of_all", "first", "third", "second"):
        assert repr(entries.operator(name)) == repr(whole[name])
        assert entries.operator(name).text == whole[name].text
    with pytest.raises(KeyError):
        entries.operator("none")
