"""The style of plots: no background, and colours that can be read on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
except ModuleNotFoundError:
    raise ExtensionError("the plots of the site need matplotlib: pip install '.[docs]'") from None

GREY, BLUE, ORANGE, GREEN = "#808080", "#2878b5", "#d1701f", "#2b9a66"
_STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "opweave", "font.size": 9, "font.family": "sans-serif",
    "text.color": GREY, "axes.labelcolor": GREY, "axes.edgecolor": GREY, "xtick.color": GREY, "ytick.color": GREY,
}  # fmt: skip


@contextmanager
def drawn(path: Path, width: float, height: float, rows: int = 1, columns: int = 1, key: str = "") -> Iterator[Any]:
    """Axes to draw on, an array of them if there are several, which are written to an SVG file: the same file every
    time. It is left untouched where it is the same already, or Sphinx would make its page again."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns)
        for each in figure.axes:
            each.spines[["top", "right"]].set_visible(False)
        yield axes
        written = BytesIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Identifier": key})
    if not path.exists() or path.read_bytes() != written.getvalue():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written.getvalue())


def has_key(path: Path, key: str) -> bool:
    """Whether a file was drawn with this key, which saves drawing it again."""
    return path.exists() and key in path.read_text("utf-8")
