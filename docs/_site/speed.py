"""The plot of docs/performance.json: time in proportion to torch's and NumPy's, a row for each section of work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from .drawing import BLUE, GREY, ORANGE, drawn

OTHERS = {"torch": BLUE, "numpy": ORANGE}


def ratios(measured: Path) -> Mapping[str, Mapping[str, Sequence[float]]]:
    """Return opweave's times divided by those of others, by section and by library."""
    sections = json.loads(measured.read_text("utf-8"))
    return {
        name: {
            other: [
                row["seconds"]["opweave"] / row["seconds"][other]
                for row in section["rows"]
                if {"opweave", other} <= row["seconds"].keys()
            ]
            for other in OTHERS
        }
        for name, section in sections.items()
    }


def draw(measured: Path, path: Path) -> None:
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
            axes.plot([], [], "o", color=colour, label=f"/ {'NumPy' if other == 'numpy' else other}")
        axes.set_xscale("log")
        axes.set_xticks([0.01, 0.03, 0.1, 0.3, 1, 3], ["0.01", "0.03", "0.1", "0.3", "1", "3"])
        axes.set_yticks(range(len(found)), list(found))
        axes.invert_yaxis()
        axes.set_xlabel("time of opweave / time of the other; less than 1 is faster")
        axes.legend(frameon=False, loc="lower left")
