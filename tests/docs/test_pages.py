"""What makes the pages of the site: text of entries as Markdown, plots of functions with poles, names elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness.paths import ROOT

pytest.importorskip("sphinx", reason="pip install '.[docs]'")

from opweave._weave import inspect_op
from opweave.codegen.model.operator import Operator


@pytest.fixture(scope="module", autouse=True)
def site() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "docs"))
    yield
    sys.path.remove(str(ROOT / "docs"))


def operator(name: str) -> Operator:
    return inspect_op.find(name)[0].operator


def test_text_of_entries_is_no_markup() -> None:
    from _site.pages import markdown

    assert markdown("shape (*, n, n), `a * b` and <n>") == r"shape (\*, n, n), `a * b` and \<n\>"


def test_links_lead_from_the_folder_of_the_site() -> None:
    from _site import outside

    pages = dict(outside.pages(ROOT))
    assert "](../dispatch.md)" in pages["changelog.md"]
    assert "](../../examples/digits.py)" in pages["examples.md"]
    assert "](../cookbook.md)" in pages["examples.md"]


@pytest.mark.parametrize(("name", "first", "last"), [("sin", -4, 4), ("log", 0, 4), ("asin", -1, 1), ("acosh", 1, 4)])
def test_functions_are_drawn_where_they_are_finite(name: str, first: float, last: float) -> None:
    from _site.plots import curves

    found = curves(operator(name))
    assert found is not None
    places, value, gradient = found
    assert places[0] == pytest.approx(first, abs=0.01)
    assert places[-1] == pytest.approx(last, abs=0.01)
    assert gradient is not None
    assert np.isfinite(value).mean() > 0.95


def test_lines_end_at_poles() -> None:
    from _site.plots import curves

    found = curves(operator("tan"))
    assert found is not None
    places, value, _ = found
    assert np.abs(places[np.isnan(value)]) == pytest.approx([np.pi / 2] * 2, abs=0.01)


def test_functions_of_two_tensors_are_curves_by_the_second() -> None:
    from _site.plots import family

    found = family(operator("xlogy"))
    assert found is not None
    _, lines = found
    assert list(lines) == ["other = 1", "other = 2", "other = 3"]  # of -1 nothing is finite
    found = family(operator("pow"))
    assert found is not None
    places, lines = found
    assert np.isnan(lines["exponent = -1"][places == 0]).all()


@pytest.mark.parametrize("name", ["isnan", "softmax", "bitwise_not", "eq", "complex", "bitwise_and"])
def test_others_have_no_plot(name: str) -> None:
    from _site.plots import curves, family

    assert curves(operator(name)) is None
    assert family(operator(name)) is None


def test_a_plot_is_the_same_file_every_time(tmp_path: Path) -> None:
    from _site.plots import draw

    pictures = []
    for _ in range(2):
        name = draw(operator("sigmoid"), tmp_path)
        assert name == "sigmoid.svg"
        pictures.append((tmp_path / name).read_bytes())
        (tmp_path / name).unlink()
    assert pictures[0] == pictures[1]


def test_a_plot_of_the_same_lines_is_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from _site import plots

    plots.draw(operator("sigmoid"), tmp_path)
    monkeypatch.setattr(plots, "drawn", None)
    assert plots.draw(operator("sigmoid"), tmp_path) == "sigmoid.svg"


def test_pages_are_the_same_in_every_process() -> None:
    from _site import classes

    assert [name for _, _, entries in classes.modules() for name, text in entries if " at 0x" in text] == []


def test_every_example_has_a_tile(tmp_path: Path) -> None:
    from _site import gallery
    from sphinx.errors import ExtensionError

    assert all(each.sentence.endswith(".") and each.run for each in gallery.examples(ROOT / "examples"))

    readme = (ROOT / "examples" / "README.md").read_text("utf-8")
    for path in (ROOT / "examples").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "new.yaml").write_text("")
    with pytest.raises(ExtensionError, match=r"examples/new\.yaml needs a row"):
        gallery.examples(tmp_path)
    (tmp_path / "README.md").write_text(f"{readme}\n| [new.yaml](new.yaml) | New: what is new | `opweave weave` |\n")
    with pytest.raises(ExtensionError, match=r"examples/new\.yaml needs a function"):
        gallery.examples(tmp_path)
    (tmp_path / "new.yaml").unlink()
    with pytest.raises(ExtensionError, match=r"examples/ has no new\.yaml"):
        gallery.examples(tmp_path)


def test_names_elsewhere() -> None:
    from _site import related

    assert related.in_torch(operator("softmax")) == ["torch.softmax", "torch.Tensor.softmax"]
    assert related.in_torch(operator("gelu")) == ["torch.nn.functional.gelu"]
    assert related.in_numpy(operator("sin")) == "np.sin"
    assert related.in_numpy(operator("softmax")) is None
