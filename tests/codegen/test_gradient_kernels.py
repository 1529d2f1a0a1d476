"""The kernels of gradients: their dtypes, and how often their text is compiled."""

import re
from pathlib import Path

import pytest
from opweave.codegen import library
from opweave.codegen.emit import kernels
from opweave.codegen.errors import Diagnostics

ENTRIES = """\
- func: squares(Tensor self, Tensor index) -> Tensor
  doc: Squares of elements that are looked up.
  compute:
    value[n]: self[index[n]] ** 2
    outside: wrap
  dtypes: numeric
  derivatives: auto

- func: smoothed(Tensor self, Tensor weight) -> Tensor
  doc: A correlation.
  compute:
    size: {x: self.size(0)}
    value[x]: sum(self[x + i] * weight[i] for i in range(weight.size(0)))
    outside: 0
  dtypes: numeric
  derivatives: auto
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    path = Path(tmp_path_factory.mktemp("kernels"), "entries.yaml")
    path.write_text(ENTRIES)
    return {each.name: kernels.emit(each) for each in library.read(path, hints=Diagnostics())}


def suffixes(text):
    return re.findall(r"^/\* ---- \w+_([a-z]+\d+) ---- \*/$", text, re.MULTILINE)


def test_dtypes(texts):
    """Gradients are of floating dtypes; those of linear operators are maps of integers as well, which may be called."""
    assert len(suffixes(texts["squares"])) > 2
    assert len(suffixes(texts["smoothed_backward_self"])) > 2
    gradients = {name: text for name, text in texts.items() if name.startswith("squares_backward")}
    assert len(gradients) >= 2
    for name, text in gradients.items():
        assert set(suffixes(text)) <= {"f32", "f64"}, name


def test_places_made_of_integers_are_computed_once(texts):
    text = texts["squares_places_self"]
    assert suffixes(text) == ["f64"]
    assert "[OW_FLOAT32] = squares_places_self_f64," in text
    assert "[OW_FLOAT64] = squares_places_self_f64," in text


def test_gradients_of_gradients_are_compiled_quickly(texts):
    quick = {name for name, text in texts.items() if "#pragma GCC optimize" in text}
    assert quick == {name for name in texts if name.count("_backward") > 1 or "_backward_self_places" in name}
    assert quick
    for name in quick:
        assert "_any_lanes(" in texts[name] or "_lanes(" not in texts[name], name
