"""The measurements of a profiler: events, their averages by name, and the table of them."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from .._dispatch.profiling import BACKWARD_FUNCTION, USER_SCOPE, Recorder, Span

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


class DeviceType(enum.Enum):
    """Kind of device that an event was measured on."""

    CPU = 0


class Interval:
    """Time between two points, in microseconds."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Return the length of the interval."""
        return self.end - self.start


class _Measured:
    """The properties that events and averages share."""

    key: str | None
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    flops: int
    overload_name: str | None
    input_shapes: Any
    stack: list[str] | None
    cpu_parent: FunctionEvent | None
    device_type = DeviceType.CPU
    node_id = -1
    is_async = is_remote = is_legacy = False
    use_device = None
    device_time = device_time_total = self_device_time_total = 0.0
    device_memory_usage = self_device_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """Microseconds of a call, on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time` with its unit."""
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total` with its unit."""
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total` with its unit."""
        return format_time(self.self_cpu_time_total)


class FunctionEvent(_Measured):
    """One call of an operator, one node of a backward pass, or one block of `record_function`.

    Attributes:
        name, overload_name (str): what was called.
        time_range (Interval): microseconds since profiling began.
        thread (int): identifier of the thread that called.
        cpu_parent (FunctionEvent): the event around it; None: there is none.
        cpu_children (list): the events directly within it.
        input_shapes (list): sizes of each argument, with `record_shapes`.
        stack (list): lines of code that it was called from, with `with_stack`; for what a node of a backward pass does
            they are those of its forward call.
        cpu_memory_usage (int): bytes that tensors hold after it and did not before, with `profile_memory`.
        flops (int): additions and multiplications, with `with_flops`; 0: they are not counted.
        sequence_nr (int): number of the node of the graph that it belongs to; -1: none.
        scope (int): 0: an operator, 1: a node of a backward pass, 7: a block of `record_function`.
    """

    count = 1

    def __init__(self, number: int, span: Span, origin: int, thread: int) -> None:
        self.id = number
        self.name: str = span.name
        self.trace_name: str = span.name
        self.overload_name = span.overload
        self.time_range = Interval((span.start - origin) / 1000, (span.end - origin) / 1000)
        self.thread = thread
        self.fwd_thread = thread if span.scope == BACKWARD_FUNCTION else None
        self.cpu_parent = None
        self.cpu_children: list[FunctionEvent] = []
        self.input_shapes = [] if span.shapes is None else span.shapes
        self.stack = [] if span.stack is None else span.stack
        self.cpu_memory_usage = span.memory
        self.flops = span.flops
        self.sequence_nr = span.sequence
        self.scope = span.scope
        self.is_user_annotation = span.scope == USER_SCOPE

    @property
    def key(self) -> str:  # type: ignore[override]
        """The name, by which averages are taken."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds that it took."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds that it took without the events within it."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:  # type: ignore[override]
        """`cpu_memory_usage` without that of the events within it."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(_Measured):
    """Sums over events of one name; `cpu_time` is the average of a call."""

    def __init__(self) -> None:
        self.key = self.overload_name = self.cpu_parent = None
        self.count = self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.input_shapes: Any = None
        self.stack: list[str] | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.scope: int | None = None
        self.is_user_annotation = False

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or what was added of others of the same name. Raises AssertionError for another name."""
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            for name in (
                "key", "overload_name", "cpu_parent", "cpu_children", "input_shapes", "stack", "scope",
                "is_user_annotation",
            ):  # fmt: skip
                setattr(self, name, getattr(other, name))
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self._sum(other)
        return self

    def _sum(self, other: FunctionEvent | FunctionEventAvg) -> None:
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops

    def __iadd__(self, other: Any) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list[Any]):
    """Events in the order in which they began, or averages of them; `str` of it is the table."""

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False) -> None:
        super().__init__(events)
        self._profile_memory, self._with_flops = profile_memory, with_flops

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each without those within it."""
        return float(sum(event.self_cpu_time_total for event in self))

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return sums over the events of each name.

        Args:
            group_by_input_shapes (bool): apart for each of the shapes of arguments, if they were recorded.
            group_by_stack_n (int): apart for this many of the lines that they were called from.
            group_by_overload_name (bool): apart for each overload of an operator.
        """
        averages: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (
                event.key,
                event.is_user_annotation,
                event.overload_name if group_by_overload_name else "",
                str(event.input_shapes) if group_by_input_shapes else "",
                *event.stack[: max(group_by_stack_n, 0)],
            )
            averages.setdefault(key, FunctionEventAvg()).add(event)
        for average in averages.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            average.input_shapes = average.input_shapes if group_by_input_shapes else ""
            average.overload_name = average.overload_name if group_by_overload_name else ""
        return EventList(averages.values(), profile_memory=self._profile_memory, with_flops=self._with_flops)

    def total_average(self) -> FunctionEventAvg:
        """Return sums over all events, under the name `Total`."""
        total = FunctionEventAvg()
        for event in self:
            total._sum(event)
        total.key, total.input_shapes, total.stack, total.overload_name = "Total", "", [], ""
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return a table with a row for each event or average.

        Args:
            sort_by (str): attribute whose largest value comes first, such as `self_cpu_time_total`, `cpu_time_total`,
                `cpu_time`, `cpu_memory_usage` or `count`. None: the order in which they began.
            row_limit (int): number of rows; -1: all.
            max_src_column_width, max_name_column_width, max_shapes_column_width (int): longer texts are cut.
            header (str): line above the table.
            top_level_events_only (bool): without what is within others.
            time_unit (str): `s`, `ms` or `us` for all times; None: what suits each.

        Raises:
            AttributeError: events have no attribute `sort_by`.
        """
        from ._profiler_table import table

        return table(
            self,
            sort_by=sort_by,
            row_limit=row_limit,
            widths=(max_name_column_width, max_shapes_column_width, max_src_column_width),
            header=header,
            memory=self._profile_memory,
            flops=self._with_flops,
            top_level_only=top_level_events_only,
            time_unit=time_unit,
        )

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events as a file that `chrome://tracing` and Perfetto show."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace_events(self), file)

    def supported_export_stacks_metrics(self) -> list[str]:
        """Return the metrics that `export_stacks` takes."""
        return ["self_cpu_time_total"]

    def export_stacks(self, path: Any, metric: str) -> None:
        """Write a line for each event: the lines it was called from, and its microseconds, for flame graphs.

        Raises ValueError for another metric than `self_cpu_time_total`.
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        replaced = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    file.write(f"{';'.join(line.translate(replaced) for line in reversed(event.stack))} {value}\n")


def events_of(recorder: Recorder, *, profile_memory: bool, with_flops: bool = False) -> EventList:
    """Return the events of a recorder that was stopped."""
    thread = recorder.thread
    numbers = {id(span): number for number, span in enumerate(recorder.spans)}
    events = [FunctionEvent(number, span, recorder.started, thread) for number, span in enumerate(recorder.spans)]
    for event, span in zip(events, recorder.spans, strict=True):
        if span.parent is not None:
            event.cpu_parent = events[numbers[id(span.parent)]]
            event.cpu_parent.cpu_children.append(event)
    _lines_of_forward_calls(events)
    return EventList(events, profile_memory=profile_memory, with_flops=with_flops)


def _lines_of_forward_calls(events: Sequence[FunctionEvent]) -> None:
    """Give the events of a backward node the lines of the program where its forward call was."""
    forward: dict[int, list[str]] = {}
    for event in events:
        node = _node_around(event)
        if node is None:
            if event.sequence_nr >= 0 and event.stack:
                forward.setdefault(event.sequence_nr, event.stack)
        else:
            event.stack = forward.get(node.sequence_nr, [])


def _node_around(event: FunctionEvent | None) -> FunctionEvent | None:
    while event is not None and event.scope != BACKWARD_FUNCTION:
        event = event.cpu_parent
    return event


def trace_events(events: Iterable[FunctionEvent]) -> list[dict[str, Any]]:
    """Events of Chrome's format: complete ones, with times in microseconds."""
    process = os.getpid()
    result: list[dict[str, Any]] = []
    for event in events:
        details: dict[str, Any] = {"External id": event.id}
        if event.sequence_nr >= 0:
            details["Sequence number"] = event.sequence_nr
        if event.input_shapes:
            details["Input Dims"] = event.input_shapes
        if event.stack:
            details["Call stack"] = ";".join(event.stack)
        result.append({
            "ph": "X",
            "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
            "name": event.name,
            "pid": process,
            "tid": event.thread,
            "ts": event.time_range.start,
            "dur": event.time_range.elapsed_us(),
            "args": details,
        })  # fmt: skip
    return result


_UNITS: dict[str, tuple[float, str]] = {"s": (1e6, "s"), "ms": (1e3, "ms"), "us": (1.0, "us")}


def format_time(microseconds: float, unit: str | None = None) -> str:
    """A time with three digits after the point, in the unit or in the largest one in which it is at least 1."""
    if unit not in _UNITS:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    divisor, symbol = _UNITS[unit]
    return f"{microseconds / divisor:.3f}{symbol}"
