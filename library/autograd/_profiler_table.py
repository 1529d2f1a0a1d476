"""The table of a profiler's events, with torch's columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .profiler_util import FunctionEvent, format_time

_WIDTH = 12
_GAP = "  "
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
"""Units, each a thousand times the one before."""


class _Column(NamedTuple):
    title: str
    width: int
    text: Callable[[Any], str]
    to_left: bool = False


def table(
    events: Sequence[Any],
    *,
    sort_by: str | None,
    row_limit: int,
    widths: Sequence[int | None],
    header: str | None,
    memory: bool,
    flops: bool,
    top_level_only: bool,
    time_unit: str | None,
) -> str:
    """The text; `widths` are the largest of names, shapes and lines of code."""
    if not events:
        return ""
    if sort_by is not None:
        wanted = sort_by
        events = sorted(events, key=lambda event: getattr(event, wanted), reverse=True)
    total = sum(event.self_cpu_time_total for event in events)
    columns = _columns(events, widths, memory, flops, total, time_unit)
    line = "".join("-" * column.width + _GAP for column in columns)
    across = "=" * (len(line) - len(_GAP))
    lines = [] if header is None else [across, header]
    if top_level_only:
        lines += [across, "This report only display top-level ops statistics"]
    lines += [line, _row(columns, [column.title for column in columns]), line]
    shown = [event for event in events if not top_level_only or event.cpu_parent is None]
    for event in shown if row_limit < 0 else shown[:row_limit]:
        lines.append(_row(columns, [column.text(event) for column in columns]))
        if columns[-1].to_left:
            places = [""] * (len(columns) - 1)
            more = [_end(each, columns[-1].width) for each in (event.stack or [])[1:]]
            lines += [_row(columns, [*places, each]) for each in (*more, "")]
    return "\n".join([*lines, line, f"Self CPU time total: {format_time(total, time_unit)}", ""])


def _columns(
    events: Sequence[Any],
    widths: Sequence[int | None],
    memory: bool,
    flops: bool,
    total: float,
    unit: str | None,
) -> list[_Column]:
    names, shapes, sources = widths
    width = _limited(max(len(event.key) for event in events) + 4, names)
    columns = [_Column("Name", width, lambda event: _beginning(event.key, names))]
    if any(event.overload_name for event in events if not isinstance(event, FunctionEvent)):
        columns.append(_Column("Overload Name", width, lambda event: _beginning(event.overload_name, names)))
    columns += [
        _Column("Self CPU %", _WIDTH, lambda event: _share(event.self_cpu_time_total, total)),
        _Column("Self CPU", _WIDTH, lambda event: format_time(event.self_cpu_time_total, unit)),
        _Column("CPU total %", _WIDTH, lambda event: _share(event.cpu_time_total, total)),
        _Column("CPU total", _WIDTH, lambda event: format_time(event.cpu_time_total, unit)),
        _Column("CPU time avg", _WIDTH, lambda event: format_time(event.cpu_time, unit)),
    ]
    if memory:
        columns.append(_Column("CPU Mem", _WIDTH, lambda event: _bytes(event.cpu_memory_usage)))
        columns.append(_Column("Self CPU Mem", _WIDTH, lambda event: _bytes(event.self_cpu_memory_usage)))
    columns.append(_Column("# of Calls", _WIDTH, lambda event: str(event.count)))
    if any(event.input_shapes for event in events):
        size = _limited(max(len(str(event.input_shapes)) for event in events) + 4, shapes)
        columns.append(_Column("Input Shapes", size, lambda event: str(event.input_shapes)[:size]))
    counts = [event.flops for event in events if event.flops] if flops else []
    if counts:
        step = min((len(str(min(counts))) - 1) // 3, len(_FLOPS) - 1)
        number: Callable[[Any], str] = lambda event: f"{event.flops / 1000**step:8.3f}" if event.flops else "--"  # noqa: E731
        columns.append(_Column(f"Total {_FLOPS[step]}", _WIDTH, number))
    stacks = [event.stack for event in events if event.stack]
    if stacks:
        longest = _limited(max(len(each) for stack in stacks for each in stack) + 4, sources)
        first: Callable[[Any], str] = lambda event: _end(event.stack[0], longest) if event.stack else ""  # noqa: E731
        columns.append(_Column("Source Location", longest, first, to_left=True))
    return columns


def _row(columns: Sequence[_Column], texts: Sequence[str]) -> str:
    parts = zip(columns, texts, strict=True)
    return "".join((text.ljust if column.to_left else text.rjust)(column.width) + _GAP for column, text in parts)


def _limited(width: int, limit: int | None) -> int:
    return width if limit is None else min(width, limit)


def _beginning(text: str, width: int | None) -> str:
    return text if width is None or len(text) < width - 3 else text[: width - 3] + "..."


def _end(text: str, width: int) -> str:
    cut = text[max(len(text) - width, 0) :]
    return cut if cut == text or len(cut) <= 3 else "..." + cut[3:]


def _share(part: float, whole: float) -> str:
    return f"{part * 100.0 / whole:.2f}%" if whole else "NaN"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"
