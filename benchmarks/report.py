"""Write the figures of docs/performance.md and README.md: `python benchmarks/report.py [SECTION ...]`.

Measures the named sections (all of them unless any is named), keeps the measurements with the machine and the settings
in docs/performance.json, and writes the tables between the markers of both files from there. `--rounds N` says how
often each library takes its turn; `--render` measures nothing; `--check` only says whether the tables are current.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from math import exp, log
from pathlib import Path
from typing import Any

import autograd
import fft
import figures
import files
import indexing
import linalg
import measure
import nn
import optimizers
import products
import quantized
import reductions
import shaping
import sizes
import sparse

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "performance.json"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
SUMMARIZED = 100
"""Sections of more rows show means and extremes of their kinds of work."""

Rows = Callable[[figures.Libraries], Iterator[measure.Figure]]
SECTIONS: Mapping[str, tuple[str, tuple[Rows, ...]]] = {
    "calls": ("Calls on few elements, and views", (figures.small, figures.views)),
    "mathematics": ("Mathematical functions", (figures.mathematics,)),
    "elementwise": ("Arithmetic, comparisons and casts of 1e5 elements", (figures.elementwise,)),
    "large": ("Large tensors", (figures.large,)),
    "reductions": ("Reductions and scans", (reductions.rows,)),
    "shaping": ("Joins, copies, sorting and contractions", (shaping.rows,)),
    "indexing": ("Indexing by tensors", (indexing.rows,)),
    "products": ("Matrix products and random numbers", (products.rows,)),
    "linalg": ("Linear algebra", (linalg.rows,)),
    "fft": ("Fourier transforms", (fft.rows,)),
    "autograd": ("Forward and backward passes", (autograd.rows,)),
    "optimizers": ("Steps of optimizers", (optimizers.rows,)),
    "nn": ("Layers of networks", (nn.rows,)),
    "files": ("Files, pickles and arrays of others", (files.rows,)),
    "sparse": ("Sparse tensors, with SciPy in NumPy's place", (sparse.rows,)),
    "quantized": ("Quantized tensors", (quantized.rows,)),
    "sizes": ("Twenty operators of 10 to 1e6 elements", (sizes.rows,)),
    "imports": ("Import", (sizes.imports,)),
}
README: tuple[tuple[str, str, str], ...] = (
    ("calls", "a + b, 4 elements", "`a + b` of 4 elements"),
    ("mathematics", "exp f32 1e+06", "`exp` of 1e6 float32"),
    ("reductions", "sum f32 1e+06", "`sum` of 1e6 float32"),
    ("shaping", "sort, f32 1e6", "`sort` of 1e6 float32"),
    ("products", "matmul f32 1000 x 1000", "product of two 1000 × 1000 float32 matrices"),
    (
        "autograd",
        "perceptron 784-256-10, batch 128, forward and backward",
        "perceptron 784-256-10, batch of 128, forward and backward",
    ),
)
"""Section, work, and what README.md calls it."""


def measured(section: str, rounds: int) -> dict[str, Any]:
    lib = figures.Libraries(rounds=rounds)
    found = [figure for rows in SECTIONS[section][1] for figure in rows(lib)]
    return {
        "machine": machine(),
        "versions": {name: version(name) for name in ("torch", "numpy")},
        "rounds": rounds,
        "threads": lib.threads,
        "rows": [
            {"work": each.work, "limit": each.limit, "against": each.against, "seconds": dict(each.seconds)}
            for each in found
        ],
        **({"megabytes": sizes.installed()} if section == "imports" else {}),
    }


def machine() -> str:
    """Return the name of the processor in the form `AMD EPYC (family 25, model 17), 2 cores`."""
    lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    details = f"family {facts.get('cpu family')}, model {facts.get('model')}"
    return f"{facts.get('model name', platform.machine())} ({details}), {os.cpu_count()} cores"


# ---- text ---------------------------------------------------------------------------------------------------


def report(data: Mapping[str, Any]) -> str:
    text = "\n".join(
        f"### {title}\n\n{_settings(data[section])}\n\n{_table(_figures(data[section]))}"
        for section, (title, _) in SECTIONS.items()
        if section in data
    )
    return text or "Not measured yet.\n"


def summary(data: Mapping[str, Any]) -> str:
    lines = []
    for section, work, title in README:
        figures_of_work = [each for each in _figures(data.get(section, {"rows": ()})) if each.work == work]
        lines += [f"| {title} | {_ratio(each, 'torch')} |\n" for each in figures_of_work]
    return "".join(["| work | time / torch's |\n|---|---|\n", *lines] if lines else ["Not measured yet.\n"])


def _figures(section: Mapping[str, Any]) -> list[measure.Figure]:
    return [measure.Figure(row["work"], row["seconds"], row["limit"], row["against"]) for row in section["rows"]]


def _settings(section: Mapping[str, Any]) -> str:
    libraries = ", ".join(f"{name} {number}" for name, number in section["versions"].items())
    return f"{section['machine']}; {_threads(section)}; {libraries}; best of {section['rounds']} turns."


def _threads(section: Mapping[str, Any]) -> str:
    count = section.get("threads", figures.THREADS)
    return f"{count} thread{'s' if count > 1 else ''}"


def _table(found: list[measure.Figure]) -> str:
    if len(found) > SUMMARIZED:
        return _kinds(found)
    lines = ["| work | time | / torch | / NumPy | to reach |\n|---|---|---|---|---|\n"]
    for each in found:
        limit = "" if each.limit is None else f"{each.limit:.2f} × {each.against}"
        cells = (each.work, figures.seconds_text(each.seconds["opweave"]), _ratio(each, "torch"), _ratio(each, "numpy"))
        lines.append(f"| {' | '.join(cells)} | {limit} |\n")
    return "".join(lines)


def _kinds(found: list[measure.Figure]) -> str:
    """One line for the figures whose names begin with the same word: their geometric mean and the largest one."""
    kinds: dict[str, list[measure.Figure]] = {}
    for each in found:
        if each.ratio("torch") is not None:
            kinds.setdefault(each.work.split()[0], []).append(each)
    lines = ["| work | figures | mean, / torch | largest, / torch |\n|---|---|---|---|\n"]
    for kind, members in kinds.items():
        ratios = [each.ratio("torch") or 1 for each in members]
        mean = exp(sum(map(log, ratios)) / len(ratios))
        largest = max(members, key=lambda each: each.ratio("torch") or 0)
        lines.append(f"| {kind} | {len(members)} | {mean:.2f} | {_ratio(largest, 'torch')}, {largest.work} |\n")
    return "".join(lines)


def _ratio(figure: measure.Figure, other: str) -> str:
    ratio = figure.ratio(other)
    return "" if ratio is None else f"{ratio:.2f}"


def between_markers(text: str, content: str) -> str:
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"a text has no lines '{BEGIN.strip()}' and '{END.strip()}' to write between")
    return f"{before}{BEGIN}{content}{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all by default")
    parser.add_argument("--rounds", type=int, default=measure.ROUNDS)
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where tables are not current")
    options = parser.parse_args()
    if unknown := set(options.sections) - SECTIONS.keys():
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    data = json.loads(DATA.read_text()) if DATA.exists() else {}
    if not (options.render or options.check):
        for section in options.sections or SECTIONS:
            data[section] = measured(section, options.rounds)
            DATA.write_text(json.dumps(data, indent=1) + "\n")
    stale = False
    for path, content in ((ROOT / "docs" / "performance.md", report(data)), (ROOT / "README.md", summary(data))):
        before = path.read_text()
        after = between_markers(before, content)
        stale |= before != after
        if not options.check:
            path.write_text(after)
    sys.exit(1 if options.check and stale else 0)


if __name__ == "__main__":
    main()
