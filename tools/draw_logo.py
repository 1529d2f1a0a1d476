"""Draws docs/_static/logo.svg, threads that are woven: `python tools/draw_logo.py [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "docs" / "_static" / "logo.svg"
_SIZE, _STEP, _WIDTH = 64, 16, 10
_WARP, _WEFT = "#2878b5", "#d1701f"


def drawing() -> str:
    """The picture: upright threads, across them others, each of which goes over every second one."""
    places = [_STEP // 2 + 2 + _STEP * k for k in range(_SIZE // _STEP)]
    shapes = [_thread(place, 2, _WIDTH, _SIZE - 4, _WARP) for place in places]
    shapes += [_thread(2, place, _SIZE - 4, _WIDTH, _WEFT) for place in places]
    over = [(x, y) for i, x in enumerate(places) for j, y in enumerate(places) if (i + j) % 2]
    shapes += [
        f'<rect x="{x - 5}" y="{y - 7}" width="{_WIDTH}" height="{_WIDTH + 4}" fill="{_WARP}"/>' for x, y in over
    ]
    body = "\n".join(f"  {each}" for each in shapes)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}">\n{body}\n</svg>\n'


def _thread(x: int, y: int, width: int, height: int, colour: str) -> str:
    left, top = (x - 5, y) if width < height else (x, y - 5)
    return f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" fill="{colour}"/>'


if __name__ == "__main__":
    (Path(sys.argv[1]) if sys.argv[1:] else FILE).write_text(drawing(), "utf-8")
