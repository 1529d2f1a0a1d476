"""The plots of docs/performance.json: time in proportion to torch's and NumPy's, time over size, import and size."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .drawing import BLUE, GREEN, GREY, ORANGE, drawn

OTHERS = {"torch": BLUE, "numpy": ORANGE}
TITLES = {"numpy": "NumPy"}
COLOURS = {"opweave": GREEN, **OTHERS}
COLUMNS = 4


def draw(measured: Path, folder: Path) -> None:
    """Draw all plots into a folder."""
    draw_ratios(measured, folder / "ratios.svg")
    sections = _sections(measured)
    draw_sizes(sections["sizes"]["rows"], folder / "sizes.svg")
    draw_imports(sections["imports"], folder / "imports.svg")


def _sections(measured: Path) -> Mapping[str, Any]:
    return json.loads(measured.read_text("utf-8"))


def ratios(measured: Path) -> Mapping[str, Mapping[str, Sequence[float]]]:
    """Return opweave's times divided by those of others, by section and by library."""
    return {
        name: {
            other: [
                row["seconds"]["opweave"] / row["seconds"][other]
                for row in section["rows"]
                if {"opweave", other} <= row["seconds"].keys()
            ]
            for other in OTHERS
        }
        for name, section in _sections(measured).items()
        if name not in ("sizes", "imports")
    }


def draw_ratios(measured: Path, path: Path) -> None:
    """Draw a dot for each figure, and a line at the median of a section."""
    found = ratios(measured)
    with drawn(path, 6.4, 0.5 * len(found) + 0.6) as axes:
        axes.axvline(1, color=GREY, linewidth=0.8)
        for place, (other, colour) in enumerate(OTHERS.items()):
            shift = 0.3 * place - 0.15
            for row, values in enumerate(each[other] for each in found.values()):
                axes.plot(values, [row + shift] * len(values), "o", color=colour, markersize=4, alpha=0.5)
                if values:
                    middle = median(values)
                    axes.plot([middle] * 2, [row + shift - 0.14, row + shift + 0.14], color=colour, linewidth=2.5)
            axes.plot([], [], "o", color=colour, label=f"/ {TITLES.get(other, other)}")
        axes.set_xscale("log")
        axes.set_xticks([0.01, 0.03, 0.1, 0.3, 1, 3], ["0.01", "0.03", "0.1", "0.3", "1", "3"])
        axes.set_yticks(range(len(found)), list(found))
        axes.invert_yaxis()
        axes.set_xlabel("time of opweave / time of the other; less than 1 is faster")
        axes.legend(frameon=False, loc="lower left")
        axes.set_title("; ".join({each["machine"] for each in _sections(measured).values()}), color=GREY, fontsize=9)


def draw_sizes(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw seconds over numbers of elements, axes for each operator."""
    curves = defaultdict[str, dict[str, dict[float, float]]](lambda: defaultdict(dict))
    for row in rows:
        operator, _, size = row["work"].rpartition(" ")
        for library, seconds in row["seconds"].items():
            curves[operator][library][float(size)] = seconds
    lines = -(-len(curves) // COLUMNS)
    with drawn(path, 7.2, 1.4 * lines, lines, COLUMNS) as grid:
        for axes, (operator, libraries) in zip(grid.flat, curves.items(), strict=True):
            for library, places in libraries.items():
                line = {"color": COLOURS[library], "label": TITLES.get(library, library), "linewidth": 1.3}
                axes.loglog(list(places), list(places.values()), **line)
            axes.set_title(operator, color=GREY, fontsize=9)
            axes.set_xticks([1e1, 1e3, 1e5])
            axes.set_yticks([1e-6, 1e-4], ["1 µs", "100 µs"])
            axes.minorticks_off()
            axes.label_outer()
        grid[0, 0].legend(fontsize=6, frameon=False)


def draw_imports(section: Mapping[str, Any], path: Path) -> None:
    """Draw bars for the time of an import, and for the size of what is installed."""
    times, sizes = section["rows"][0]["seconds"], section["megabytes"]
    with drawn(path, 7.2, 1.5, 1, 2) as (left, right):
        for axes, values, title in ((left, times, "import, seconds"), (right, sizes, "installed, megabytes")):
            names = list(values)
            bars = axes.barh([TITLES.get(name, name) for name in names], list(values.values()), height=0.6)
            for bar, name in zip(bars, names, strict=True):
                bar.set_color(COLOURS[name])
            axes.bar_label(bars, fmt="{:.3g}", color=GREY, padding=3)
            axes.invert_yaxis()
            axes.set_title(title, color=GREY, fontsize=9)
