"""opweave.autograd.profiler: time of each operator in a block, and labels for blocks."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from .._dispatch import profiling
from .._names.refusals import refused_class
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg, Interval, events_of

__all__ = [
    "EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "emit_itt", "emit_nvtx", "profile", "record_function",
]  # fmt: skip

emit_itt, emit_nvtx = (
    refused_class(__name__, name, "its marks are for other tools; measure with profile()")
    for name in ("emit_itt", "emit_nvtx")
)


class profile:  # noqa: N801 (PyTorch's name)
    """Context that measures how long each operator takes that its thread calls within.

    Args:
        enabled (bool): whether to measure at all.
        record_shapes (bool): whether to keep the sizes of arguments.
        profile_memory (bool): whether to count the bytes of tensors of the process before and after each event.
        with_flops (bool): whether to count the additions and multiplications of `mm`, `addmm`, `bmm`, `baddbmm`,
            `conv2d`, `add` and `mul`. It keeps the sizes of arguments as well.
        with_stack (bool): whether to keep the lines of code that called.
        with_modules, use_kineto, use_device, experimental_config, custom_trace_id_callback, post_processing_timeout_s:
            torch's, without effect here.
        use_cpu (bool): as `enabled`.
        acc_events (bool): whether to keep the events of earlier blocks as well when it is entered again.

    An operator that calls others takes its own time and theirs; so does a node of a backward pass. Entering raises
    RuntimeError where this thread is profiled already.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Any = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.enabled = enabled and use_cpu
        self.record_shapes, self.with_flops = record_shapes or with_flops, with_flops
        self.profile_memory, self.with_stack, self.with_modules = profile_memory, with_stack, with_modules
        self.use_device, self.use_cpu, self.experimental_config = use_device, use_cpu, experimental_config
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.acc_events = acc_events
        self._recorder: profiling.Recorder | None = None
        self._events: EventList | None = None
        self._earlier: list[Any] = []

    def __enter__(self) -> profile:
        if self.enabled:
            recorder = profiling.Recorder(
                shapes=self.record_shapes, memory=self.profile_memory, stack=self.with_stack, flops=self.with_flops
            )
            recorder.start()
            if self.acc_events and self._recorder is not None:
                self._earlier = list(self.function_events)
            self._recorder, self._events = recorder, None
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled and self._recorder is not None:
            self._recorder.stop()

    @property
    def function_events(self) -> EventList:
        """The events. Raises AssertionError before the block has ended."""
        recorder = self._recorder
        if recorder is None or not recorder.stopped:
            raise AssertionError("Expected profiling results")
        if self._events is None:
            self._events = events_of(recorder, profile_memory=self.profile_memory, with_flops=self.with_flops)
            self._events += self._earlier
        return self._events

    def table(self, *args: Any, **kwargs: Any) -> str:
        """Return `EventList.table` of the events, with its arguments."""
        return self.function_events.table(*args, **kwargs)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return `EventList.key_averages` of the events."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """Return sums over all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each without those within it."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events as a file that `chrome://tracing` and Perfetto show."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write `EventList.export_stacks`. Raises AssertionError without `with_stack`."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._is_unfinished else str(self.function_events)

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._is_unfinished else repr(self.function_events)

    @property
    def _is_unfinished(self) -> bool:
        return self._recorder is None or not self._recorder.stopped


class record_function(ContextDecorator):  # noqa: N801 (PyTorch's name)
    """Context, or decorator, whose block is an event of this name where its thread is profiled.

    Args:
        name (str): name of the event.
        args (str): note that torch's traces show; without effect here.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._begun: list[tuple[profiling.Recorder, profiling.Span] | None] = []

    def _recreate_cm(self) -> record_function:
        return type(self)(self.name, self.args)  # calls of a decorated function may overlap

    def __enter__(self) -> record_function:
        recorder = profiling.recorder()
        began = None if recorder is None else (recorder, recorder.begin(self.name, profiling.USER_SCOPE))
        self._begun.append(began)
        return self

    def __exit__(self, *exception: object) -> None:
        began = self._begun.pop()
        if began is not None:
            recorder, span = began
            recorder.end(span)
