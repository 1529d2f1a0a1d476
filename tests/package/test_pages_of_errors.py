"""Notes of errors lead to pages that `opweave docs` prints, and leave the texts of errors alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import opweave
import pytest
from harness.paths import ROOT
from opweave._weave import pages


def links() -> set[str]:
    """The pages and sections that sources give to errors."""
    paths = [path for folder in ("runtime", "library") for path in (ROOT / folder).rglob("*.py")]
    return {link for path in paths for link in re.findall(r'"(docs/[^"\n]+)"', path.read_text("utf-8"))}


def test_links_lead_to_pages() -> None:
    found = links()
    assert len(found) > 10
    assert all(pages.page(link).startswith("#") for link in found)


def test_sections_end_where_the_next_begins() -> None:
    text = pages.page("autograd.md#errors")
    assert text.startswith("## Errors\n")
    assert "### A leaf in place" in text
    assert "## Gradients of your own" not in text
    assert "### A leaf in place" not in pages.page("docs/autograd.md#backward-a-second-time")


def test_comments_of_code_are_no_headings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\n```python\n# Comment\n```\n\n## Last\n\nText.\n")
    monkeypatch.setattr(pages.package_data, "folder", lambda *names: {"page.md": tmp_path / "page.md"})
    monkeypatch.setattr(pages.package_data, "path", lambda *names: tmp_path / names[-1])
    assert pages.titles() == [("page.md", "Page")]
    assert pages.page("page.md#last") == "## Last\n\nText.\n"
    with pytest.raises(KeyError, match="no section 'comment'"):
        pages.page("page.md#comment")


def test_every_page_but_indexes_is_installed() -> None:
    installed = {f"{name}.md" for name in pages.names()}
    written = {path.name for path in (ROOT / "docs").glob("*.md") if "```{" not in path.read_text("utf-8")}
    assert installed == written


def backward_twice() -> None:
    loss = opweave.ones(2, requires_grad=True).square().sum()
    loss.backward()
    loss.backward()


def modified() -> None:
    x = opweave.ones(2, requires_grad=True).exp()
    y = x.square()
    x.add_(1)
    y.sum().backward()


def listed(x: opweave.Tensor) -> object:
    return x.tolist()


class Listed(opweave.nn.Module):
    def forward(self, x: opweave.Tensor) -> object:
        return x.tolist()


ERRORS: list[tuple[str, str, Callable[[], object]]] = [
    ("modified by an inplace", "autograd.md#modified-by-an-inplace-operation", modified),
    ("a second time", "autograd.md#backward-a-second-time", backward_twice),
    ("a leaf Variable", "autograd.md#a-leaf-in-place", lambda: opweave.ones(1, requires_grad=True).add_(1)),
    ("does not require grad", "autograd.md#no-element-requires-grad", opweave.ones(1).backward),
    ("no data", "meta.md", opweave.ones(1, device="meta").cpu),
    ("we do not support|item", "batching.md", lambda: opweave.vmap(lambda x: x.item())(opweave.ones(2))),
    ("", "fx.md#traces", lambda: opweave.fx.symbolic_trace(lambda x: x + 1 if x else x)),
    ("astype", "coming-from.md#from-numpy", lambda: opweave.ones(1).astype),  # type: ignore[attr-defined]
    ("expand_dims", "coming-from.md#from-numpy", lambda: opweave.expand_dims),  # type: ignore[attr-defined]
    ("nvtx", "coming-from.md#from-torch", lambda: opweave.cuda.nvtx),
    ("", "compile.md#what-is-not-recorded", lambda: opweave.compile(listed, fullgraph=True)(opweave.ones(2))),
    ("", "export.md#how-it-works", lambda: opweave.export.export(Listed(), (opweave.ones(2),))),
]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes of exceptions came with Python 3.11")
@pytest.mark.parametrize(("text", "page", "call"), ERRORS, ids=[page for _, page, _ in ERRORS])
def test_errors_name_a_page(text: str, page: str, call: Callable[[], object]) -> None:
    with pytest.raises(Exception, match=f"(?i){text}") as caught:
        call()
    assert caught.value.__notes__ == [f"To read more: opweave docs {page}"]
    assert "opweave docs" not in str(caught.value)
