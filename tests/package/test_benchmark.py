"""opweave.utils.benchmark: what is run, with how many threads, and what the numbers mean. No time is asserted."""

from __future__ import annotations

import copy
import itertools
import pickle

import opweave
import opweave.utils.benchmark as benchmark
import pytest
from opweave.utils.benchmark import Compare, Measurement, TaskSpec, Timer


class Clock:
    """Time that passes only in the statement `clock.run()`."""

    def __init__(self, *lengths: float) -> None:
        self.lengths = itertools.cycle(lengths)
        self.now = 0.0

    def run(self) -> None:
        self.now += next(self.lengths)

    def timer(self, stmt: str = "clock.run()") -> Timer:
        return Timer(stmt, timer=lambda: self.now, globals={"clock": self})


def test_a_statement_is_run_as_often_as_said() -> None:
    calls: list[int] = []
    measurement = Timer("calls.append(1)", "calls.clear()", globals={"calls": calls}).timeit(300)
    assert len(calls) == 300  # `setup` ran once more, after the warm-up
    assert measurement.number_per_run == 300
    assert len(measurement.times) == 1


def test_the_number_of_threads_is_set_and_put_back() -> None:
    before, seen = opweave.get_num_threads(), []
    timer = Timer("seen.append(opweave.get_num_threads())", globals={"seen": seen}, num_threads=before + 2)
    for run in (
        lambda: timer.timeit(3),
        lambda: timer.blocked_autorange(min_run_time=1e-4),
        lambda: timer.adaptive_autorange(min_run_time=1e-4, max_run_time=1e-3),
    ):
        seen.clear()
        run()
        assert {*seen} == {before + 2}
        assert opweave.get_num_threads() == before
    with pytest.raises(ZeroDivisionError):
        Timer("1 / 0", num_threads=before + 1).timeit(1)
    assert opweave.get_num_threads() == before
    with pytest.raises(RuntimeError, match="positive integer"):
        Timer(num_threads=0).timeit(1)


def test_blocks_of_runs() -> None:
    seen: list[tuple[int, float]] = []
    measurement = Clock(1.0).timer().blocked_autorange(lambda *block: seen.append(block), min_run_time=7)
    assert measurement.number_per_run == 1
    assert measurement.raw_times == [1.0] * 7
    assert seen == [(1, 1.0)] * 7


def test_adaptive_timing_goes_on_while_times_differ() -> None:
    assert len(Clock(1.0).timer().adaptive_autorange(min_run_time=2).raw_times) == 4
    assert len(Clock(1.0).timer().adaptive_autorange(min_run_time=9).raw_times) == 10
    assert len(Clock(1.0, 4.0).timer().adaptive_autorange(10.0).raw_times) == 4
    assert sum(Clock(1.0, 4.0).timer().adaptive_autorange(0.1, max_run_time=100).raw_times) >= 100


def test_blocks_are_long_enough_for_the_timer() -> None:
    """One look at this clock takes a millisecond, as long as a hundred runs do."""
    clock = Clock(1e-5)

    def look() -> float:
        clock.now += 1e-3
        return clock.now

    measurement = Timer("clock.run()", timer=look, globals={"clock": clock}).blocked_autorange(min_run_time=2)
    assert measurement.number_per_run == 100_000


def test_statements() -> None:
    assert Timer("x = opweave.ones(3) + torch.ones(3)").timeit(2).number_per_run == 2
    assert Timer("\n    a = 1\n    b = a\n").timeit(1).task_spec.stmt == "a = 1\nb = a"
    with pytest.raises(SyntaxError):
        Timer("x +")
    with pytest.raises(NameError, match="missing"):
        Timer("missing").timeit(1)
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        Timer(print)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Invalid language `c`"):
        Timer(language="c")
    with pytest.raises(ValueError, match="global_setup is C"):
        Timer(global_setup="#include <x>")
    for name in ("repeat", "autorange"):
        with pytest.raises(NotImplementedError):
            getattr(Timer(), name)()


def test_statistics() -> None:
    measurement = Measurement(2, [8.0, 2.0, 4.0, 6.0, 10.0], TaskSpec("x", "pass", label="l", num_threads=3))
    assert measurement.times == [4, 1, 2, 3, 5]
    assert (measurement.median, measurement.mean, measurement.iqr) == (3, 3, 2)
    assert measurement.has_warnings
    assert measurement.meets_confidence(0.7)
    assert (measurement.label, measurement.num_threads, measurement.sub_label) == ("l", 3, None)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = measurement.nonsense
    for same in (copy.deepcopy(measurement), pickle.loads(pickle.dumps(measurement))):
        assert same.times == measurement.times
        assert same.task_spec == measurement.task_spec


def test_times_that_the_timer_does_not_see() -> None:
    for times, warned in (([0.0] * 5, False), ([0.0, 0.0, 0.0, 1.0, 1.0], True)):
        measurement = Measurement(1, times, TaskSpec("x", "pass"))
        assert measurement.has_warnings is warned
        assert "Median: 0.00 ns" in repr(measurement)
        table = Compare([measurement])
        table.highlight_warnings()
        table.trim_significant_figures()
        assert ("(! inf%)" in str(table)) is warned


def test_figures_to_be_believed() -> None:
    for spread, figures in ((0.0, 4), (1e-4, 3), (1e-3, 2), (1e-2, 1), (10.0, 1)):
        times = [1.0 + spread * step for step in range(16)]
        assert Measurement(1, times, TaskSpec("x", "pass")).significant_figures == figures
    assert Measurement(1, [1e-6] * 9, TaskSpec("x", "pass")).significant_figures == 1  # not better than a timer


def test_replicates_are_merged() -> None:
    first, other = TaskSpec("x", "pass"), TaskSpec("x", "pass", env="other")
    runs = [Measurement(2, [2.0], first), Measurement(1, [5.0], other), Measurement(1, [3.0], first)]
    merged = Measurement.merge(runs)
    assert [(each.number_per_run, each.raw_times, each.task_spec) for each in merged] == [
        (1, [1.0, 3.0], first),
        (1, [5.0], other),
    ]


def test_units() -> None:
    assert [benchmark.select_unit(t)[0] for t in (0, 1e-12, 2e-9, 3e-6, 4e-3, 0.5, 1, 1e5)] == [
        "ns", "ns", "ns", "us", "ms", "ms", "s", "s",
    ]  # fmt: skip
    assert [benchmark.trim_sigfig(x, n) for x, n in ((3.14159, 2), (12345, 2), (0.00123456, 3), (-2.5, 1), (0, 3))] == [
        3.1, 12000, 0.00123, -2.0, 0,
    ]  # fmt: skip


def test_tables_take_measurements_only() -> None:
    table = Compare([])
    assert str(table) == ""
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'int'> instead"):
        table.extend_results([1])  # type: ignore[list-item]


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    def measured(seconds: float, **about: object) -> Measurement:
        return Measurement(1, [seconds] * 5, TaskSpec("x + y", "pass", label="sums", **about))  # type: ignore[arg-type]

    table = Compare([
        measured(1e-3, sub_label="short", description="n=1"),
        measured(2e-3, sub_label="long name", description="n=1"),
        measured(12e-3, sub_label="short", description="n=100", num_threads=2),
    ])  # fmt: skip
    table.print()
    assert capsys.readouterr().out.splitlines() == [
        "[------------- sums ------------]",
        "                 |  n=1  |  n=100",
        "1 threads: ----------------------",
        "      short      |  1.0  |       ",
        "      long name  |  2.0  |       ",
        "2 threads: ----------------------",
        "      short      |       |   12.0",
        "",
        "Times are in milliseconds (ms).",
        "",
    ]
