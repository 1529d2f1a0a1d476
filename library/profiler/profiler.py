"""The profiler of steps: a schedule says in which of them operators are measured."""

from __future__ import annotations

import enum
import gzip
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from .._base.type_names import type_name
from .._base.warn import warn
from ..autograd import profiler as _autograd_profiler
from ..autograd.profiler_util import EventList, FunctionEvent, trace_events

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """The kinds of activity that are measured: here only `CPU`, the others have the names that torch knows."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """The actions of a schedule's steps."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def kineto_available() -> bool:
    """Return whether torch's library of traces is there: it is not."""
    return False


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that can be measured."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return a function that says of each step what the profiler does.

    Args:
        wait, warmup, active (int): number of steps, one after the other, in which nothing is done, before which the
            program warms up, and which are measured; then it begins again.
        repeat (int): how often; 0: until the end.
        skip_first (int): number of steps before the first `wait`.
        skip_first_wait (int): if not 0, the first `wait` is left out.

    Raises AssertionError for negative numbers, and where `active` is not positive.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step += (wait if skip_first_wait else 0) - skip_first
        if repeat > 0 and step >= repeat * cycle:
            return ProfilerAction.NONE
        step %= cycle
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return an `on_trace_ready` that writes each trace to a new file in a folder, which TensorBoard reads.

    Args:
        dir_name (str): the folder, which is made if it is not there.
        worker_name (str): beginning of the names of files; None: name of the machine and number of the process.
        use_gzip (bool): whether to compress the files.

    Raises RuntimeError, when it is called, if the folder cannot be made.
    """

    def write(profiler: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return write


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile:  # noqa: N801 (PyTorch's name)
    """Context that measures how long each operator takes that its thread calls, in the steps that a schedule says.

    Args:
        activities (iterable of ProfilerActivity): None: `supported_activities()`. Those of devices that are not there
            are left out with a warning.
        schedule (callable): says of the number of a step which ProfilerAction it is; None: all are measured.
        on_trace_ready (callable): called with the profiler when the steps of a cycle have been measured.
        record_shapes (bool): whether to keep the sizes of arguments.
        profile_memory (bool): whether to count the bytes of tensors of the process before and after each event.
        with_stack (bool): whether to keep the lines of code that called.
        with_flops (bool): whether to count the additions and multiplications of `mm`, `addmm`, `bmm`, `baddbmm`,
            `conv2d`, `add` and `mul`. It keeps the sizes of arguments as well.
        with_modules (bool): noted in files of traces; torch measures modules of TorchScript alone.
        experimental_config, execution_trace_observer, custom_trace_id_callback, post_processing_timeout_s, use_cuda:
            torch's, without effect here.
        acc_events (bool): whether to keep the events of all cycles, rather than of the last one.

    `step()` says that the next step begins. Entering raises RuntimeError where this thread is profiled already; an
    exception that ends the block goes on.

    Raises:
        AssertionError: there are no activities.
        ValueError, TypeError: one is there twice, or is no ProfilerActivity.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        use_cuda: bool | None = None,
    ) -> None:
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
        self.activities = supported_activities() if activities is None else _read(activities)
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.with_modules = with_flops, with_modules
        self.experimental_config, self.execution_trace_observer = experimental_config, execution_trace_observer
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.acc_events = acc_events
        self.schedule = schedule or _always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler: _autograd_profiler.profile | None = None
        self._step: _autograd_profiler.record_function | None = None
        self._running = False
        self._metadata: dict[str, Any] = {}

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        self._begin_step()

    def stop(self) -> None:
        """End, and hand over what was measured."""
        self._end_step()
        action = self.current_action
        if self._running:
            self._stop_recording()
        if action in _RECORDING:
            self._trace_ready()

    def step(self) -> None:
        """Begin the next step."""
        self._end_step()
        action = self.current_action
        following = self.schedule(self.step_num + 1)
        self.step_num, self.current_action = self.step_num + 1, following
        if action is ProfilerAction.RECORD_AND_SAVE or (action in _RECORDING and following not in _RECORDING):
            self._stop_recording()
            self._trace_ready()
        self._begin_step()

    def _begin_step(self) -> None:
        if self.current_action in _RECORDING and not self._running:
            self._start_recording()
        if self.record_steps:
            self._step = _autograd_profiler.record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _start_recording(self) -> None:
        if self.profiler is None or not self.acc_events:
            self.profiler = _autograd_profiler.profile(
                ProfilerActivity.CPU in self.activities,
                record_shapes=self.record_shapes,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_flops=self.with_flops,
                with_modules=self.with_modules,
                acc_events=self.acc_events,
            )
        self.profiler.__enter__()
        self._running = True

    def _stop_recording(self) -> None:
        self._running = False
        self._results().__exit__(None, None, None)

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- results ----

    def _results(self) -> _autograd_profiler.profile:
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before accessing its results")
        return self.profiler

    def events(self) -> EventList:
        """Return the events of the last cycle. Raises AssertionError before something was measured."""
        return self._results().function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return sums over the events of each name, or of each name and what else they are grouped by."""
        return self._results().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a line for each event: what it was called from, and its microseconds. `with_stack` is needed for it."""
        self._results().export_stacks(path, metric)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a file for `chrome://tracing` and Perfetto, compressed if its name ends with `.gz`."""
        trace = {
            "schemaVersion": 1,
            "deviceProperties": [],
            "record_shapes": int(self.record_shapes),
            "profile_memory": int(self.profile_memory),
            "with_stack": int(self.with_stack),
            **({"with_flops": 1} if self.with_flops else {}),
            **({"with_modules": 1} if self.with_modules else {}),
            **self._metadata,
            "traceEvents": [*_names(self.events()), *trace_events(self.events())],
            "traceName": os.fspath(path),
        }
        compressed = os.fspath(path).endswith(".gz")
        with gzip.open(path, "wt") if compressed else open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the files of traces."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given as JSON, to the files of traces. Raises ValueError if it is none."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json


def _read(activities: Iterable[ProfilerActivity]) -> set[ProfilerActivity]:
    wanted: set[ProfilerActivity] = set()
    for each in activities:
        if not isinstance(each, ProfilerActivity):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type_name(each)}")
        if each in wanted:
            raise ValueError(f"Activity {each} specified more than once")
        wanted.add(each)
    if not wanted:
        raise AssertionError("No valid profiler activities found")
    for each in sorted(wanted - supported_activities(), key=lambda each: each.value):
        warn(f"{each.name} is not available, disabling {each.name} profiling")
    return wanted


def _names(events: Iterable[FunctionEvent]) -> list[dict[str, Any]]:
    """Return the events that name the process and its threads for viewers."""
    process = os.getpid()
    named = [{"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": "python"}}]
    for thread in sorted({event.thread for event in events}):
        text = f"thread {thread} (python)"
        named.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": text}})
    return named
