"""Tables of measurements: one for each label, rows by what was timed, columns by the description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from .measurement import Measurement
from .units import leading_digits, select_unit, trim_sigfig, unit_to_english

_END, _BOLD = "\033[0m", "\033[1m"
_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m" + _BOLD, "\033[34m" + _BOLD, "\033[2m\033[91m", "\033[31m" + _BOLD
_SEPARATOR = "  |  "
_SAME = 100e-9
"""Seconds: times that differ by less are equal."""

Row = tuple[int, str, str]
"""Number of threads, environment, name."""


class Colorize(Enum):
    """The times among which each is coloured: those of its column, those of its row, or none."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Shows measurements, replicates merged, as tables: `print()`, or as text by `str()`."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self._colorize = Colorize.NONE
        self._highlight = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. Raises ValueError for anything else."""
        added = list(results)
        for each in added:
            if not isinstance(each, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(each)} instead.")
        self._results += added

    def trim_significant_figures(self) -> None:
        """Shows no more figures than are to be believed."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colours the best and the bad times of each column, or of each row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Marks times that differ much between replicates."""
        self._highlight = True

    def print(self) -> None:
        """Prints the tables."""
        print(str(self))

    def __str__(self) -> str:
        groups: dict[str | None, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            groups.setdefault(each.task_spec.label, []).append(each)
        tables = (_Table(group, self._trim, self._colorize, self._highlight) for group in groups.values())
        return "\n".join(table.text() for table in tables)


class _Table:
    """The measurements of one label."""

    def __init__(self, results: Sequence[Measurement], trim: bool, colorize: Colorize, highlight: bool) -> None:
        self.label = results[0].task_spec.label or ""
        self.trim, self.colorize, self.highlight = trim, colorize, highlight
        self.unit, self.scale = select_unit(min(each.median for each in results))
        self.columns = list(dict.fromkeys(each.task_spec.description for each in results))
        self.rows = sorted(dict.fromkeys(map(_row, results)), key=lambda row: row[:2])
        self.cells = {(_row(each), each.task_spec.description): each for each in results}

    def text(self) -> str:
        names = self._names()
        columns = [self._column(each) for each in self.columns]
        width = max(map(len, names))
        lines = [_SEPARATOR.join([" " * width, *(head for head, _ in columns)])]
        total = len(lines[0])
        threads = None
        for index, (row, name) in enumerate(zip(self.rows, names, strict=True)):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(total, "-"))
            cells = zip((texts[index] for _, texts in columns), self._measured(row), strict=True)
            lines.append(_SEPARATOR.join([name.ljust(width), *(self._coloured(*cell) for cell in cells)]))
        lines.insert(0, f"[{f' {self.label} '.center(total - 2, '-')}]")
        lines += ["", f"Times are in {unit_to_english(self.unit)}s ({self.unit})."]
        if self.highlight and any(each.has_warnings for each in self.cells.values()):
            lines.append("(! XX%) Measurement has high variance, where XX is the IQR / median * 100.")
        return "\n".join(lines) + "\n"

    def _names(self) -> list[str]:
        """The beginnings of the rows; environments are only named where there are several, and not twice in a row."""
        environments = {env for _, env, _ in self.rows}
        if len(environments) == 1:
            return [f"      {name}" for _, _, name in self.rows]
        width = max(map(len, environments)) + len("()")
        names = []
        before: tuple[int, str] | None = None
        for threads, env, name in self.rows:
            shown = f"({env})" if env and (threads, env) != before else ""
            names.append(f"  {shown.ljust(width)}  {name}")
            before = threads, env
        return names

    def _column(self, description: str | None) -> tuple[str, list[str]]:
        """The head and the times of a column, in the middle of its width."""
        measured = [self.cells.get((row, description)) for row in self.rows]
        sizes = [(each, leading_digits(each.median / self.scale)) for each in measured if each is not None]
        decimals = min(max(each.significant_figures - digits, 0) for each, digits in sizes) if self.trim else 1
        width = max(digits for _, digits in sizes) + decimals + bool(decimals)
        marked = self.highlight and any(each.has_warnings for each, _ in sizes)
        texts = [self._cell(each, width, decimals, marked) for each in measured]
        head = description or ""
        broadest = max(map(len, (head, *texts)))
        return head.center(broadest), [text.center(broadest) for text in texts]

    def _cell(self, each: Measurement | None, width: int, decimals: int, marked: bool) -> str:
        if each is None:
            return ""
        value = each.median / self.scale
        if self.trim:
            value = trim_sigfig(value, each.significant_figures)
        text = f"{value:>{width}.{decimals}f}"
        if not marked:
            return text
        return text + (f" (! {each.spread * 100:.0f}%)" if each.has_warnings else " " * 7)

    def _measured(self, row: Row) -> list[tuple[Measurement | None, float]]:
        """The cells of a row, and the time that each is compared with."""
        cells = [self.cells.get((row, each)) for each in self.columns]
        results = []
        for each, description in zip(cells, self.columns, strict=True):
            others = cells
            if self.colorize is Colorize.COLUMNWISE:
                others = [self.cells.get((other, description)) for other in self.rows if other[0] == row[0]]
            results.append((each, min((other.median for other in others if other is not None), default=0.0)))
        return results

    def _coloured(self, text: str, cell: tuple[Measurement | None, float]) -> str:
        each, best = cell
        colour = "" if each is None or self.colorize is Colorize.NONE else _colour(each.median, best)
        return f"{colour}{text}{_END * 2}" if colour else text


def _row(each: Measurement) -> Row:
    return each.task_spec.num_threads, each.task_spec.env or "", each.as_row_name


def _colour(value: float, best: float) -> str:
    if value <= best * 1.01 or value <= best + _SAME:
        return _BEST
    if value <= best * 1.1:
        return _GOOD
    return _VERY_BAD if value >= best * 5 else _BAD if value >= best * 2 else ""
