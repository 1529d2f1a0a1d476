"""The extension of Sphinx that makes what is not written by hand.

pages.py       writes pages when Sphinx starts
operators.py   a page for each operator, an index by section: from ops.yaml, by way of codegen
classes.py     pages of modules: classes and functions that are no operators, from their docstrings
absent.py      names of torch that are not there
related.py     the names that an operator has elsewhere, the operators that it calls and those that call it
plots.py       pictures of functions of one tensor and their gradients
speed.py       the picture of docs/performance.json
gallery.py     a tile and a page for each example
pictures.py    what the examples compute, as pictures
drawing.py     the style of all pictures
outside.py     pages that stand outside of docs/
mathml.py      formulas in the page itself: no scripts of others, no network
folds.py       text that is long and closed at first
templates/     the text of pages
"""

from __future__ import annotations

from typing import Any

from . import folds, mathml, outside, pages


def setup(app: Any) -> dict[str, bool]:
    """Registers everything; Sphinx calls it."""
    mathml.setup(app)
    folds.setup(app)
    app.connect("source-read", outside.lead_here)
    app.connect("builder-inited", lambda app: pages.write(app.srcdir))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
