"""Tasks, and the times that they took."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .units import select_unit

# Between the quartiles of the times, in proportion to their median: suspicious, and more than that.
_WIDE, _VERY_WIDE = 0.1, 0.25
# Confidence intervals: that of 90 % in units of the standard error, no shorter than a timer's error, and how many
# figures one is believed.
_Z, _LEAST_INTERVAL, _MOST_FIGURES = 1.645, 25e-9, 4
_ENOUGH_FOR_QUARTILES = 4


@dataclass(repr=False, frozen=True)
class TaskSpec:
    """A statement and all that is said about it: what `Timer` was given, but for the variables."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement, and what belongs to it."""
        below = self.sub_label
        if self.label is not None or "\n" not in self.stmt:
            return f"{self.label or self.stmt}{f': {below}' if below else ''}"
        return f"stmt:{f' ({below})' if below else ''}\n{textwrap.indent(self.stmt, '  ')}"

    @property
    def setup_str(self) -> str:
        """The preparation, if there is any."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}\n" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and preparation."""
        title = f"{self.title}\n" if "\n" in self.title else self.title
        return "\n".join(part for part in (title, self.description or "", self.setup_str) if part)


@dataclass(repr=False)
class Measurement:
    """The times, in seconds, that `number_per_run` runs of a statement took in each replicate.

    Statistics raise ValueError when there are no times.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None
    """The user's own notes, which have no part in the times."""
    _sorted: tuple[float, ...] = field(default=(), init=False, compare=False)

    def __getattr__(self, name: str) -> Any:
        """The fields of the task are those of its measurements too."""
        if name != "task_spec" and name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds that one run took, in each replicate."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def median(self) -> float:
        """Median of the seconds that one run took."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """Mean of the seconds that one run took."""
        return statistics.fmean(self._in_order())

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """The number of significant figures of the median, estimated from the distance between the quartiles."""
        times = self._in_order()
        inner = times[len(times) // 4 : math.ceil(3 * len(times) / 4)]
        interval = max(_Z * statistics.pstdev(inner) / math.sqrt(len(inner)), _LEAST_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), _MOST_FIGURES) if self.median > 0 else 1

    @property
    def has_warnings(self) -> bool:
        """True if the times of the replicates differ much."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """True if the distance between the quartiles is less than this fraction of the median."""
        return self.spread < threshold

    @property
    def spread(self) -> float:
        """The distance between the quartiles in proportion to the median, which a coarse timer may see as zero."""
        return self.iqr / self.median if self.median else math.inf if self.iqr else 0.0

    @property
    def title(self) -> str:
        """The title of the task, in words."""
        return self.task_spec.title

    @property
    def env(self) -> str | None:
        """The name of the environment of the task, or None."""
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of the row that shows it."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def _in_order(self) -> tuple[float, ...]:
        if len(self._sorted) != len(self.raw_times):
            self._sorted = tuple(sorted(self.times))
        if not self._sorted:
            raise ValueError("a measurement without times")
        return self._sorted

    def _quantile(self, part: float) -> float:
        times = self._in_order()
        position = part * (len(times) - 1)
        below = math.floor(position)
        above = min(below + 1, len(times) - 1)
        return times[below] + (position - below) * (times[above] - times[below])

    def __repr__(self) -> str:
        """Return a text: the task, and the distribution of the times."""
        unit, scale = select_unit(self.median)
        lines = [object.__repr__(self), self.task_spec.summarize()]
        count = len(self.raw_times)
        if count == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
        if count >= _ENOUGH_FOR_QUARTILES:
            first, third = (self._quantile(part) / scale for part in (0.25, 0.75))
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({first:.2f} to {third:.2f})")
        plural = "s" if count > 1 else ""
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}"
        threads = f"{self.task_spec.num_threads} thread{'s' if self.task_spec.num_threads > 1 else ''}"
        lines.append(f"  {count} measurement{plural}, {runs}, {threads}")
        if self.has_warnings:
            cause = "could indicate system fluctuation"
            if not self.meets_confidence(_VERY_WIDE):
                cause = "suggests significant environmental influence"
            lines.append(
                f"  WARNING: Interquartile range is {self.spread * 100:.1f}% of the median measurement.\n"
                f"           This {cause}."
            )
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement of each task, with the times of all replicates, each of one run."""
        groups: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, spec) for spec, times in groups.items()]
