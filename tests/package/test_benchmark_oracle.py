"""opweave.utils.benchmark beside torch's: statistics, printed measurements and tables of the same times."""

from __future__ import annotations

import importlib
import random
from types import ModuleType
from typing import Any

import pytest
from harness import oracle
from harness.oracle import Like

TASKS: tuple[dict[str, Any], ...] = (
    {},
    {"label": "label"},
    {"label": "label", "sub_label": "below", "description": "said", "env": "there", "num_threads": 4},
    {"sub_label": "below"},
    {"setup": "x = 1"},
    {"setup": "x = 1\ny = 2", "description": "said"},
    {"stmt": "a = 1\nb = a"},
    {"stmt": "a = 1\nb = a", "setup": "x\ny", "sub_label": "below"},
    {"stmt": "a = 1\nb = a", "label": "label", "setup": "x\ny"},
    {"stmt": "s" * 150, "num_threads": 2},
)


LIKE = Like(rtol=1e-9, atol=1e-18, until=" (<")


def check(call: Any) -> None:
    """The call of the module gives the same as torch's."""
    oracle.check(lambda L: call(importlib.import_module(f"{L.__name__}.utils.benchmark")), "", LIKE)


def measured(library: ModuleType, times: list[float], number: int = 1, **about: Any) -> Any:
    return library.Measurement(number, times, library.TaskSpec(**{"stmt": "x + y", "setup": "pass", **about}))


def replicates(rng: random.Random, shortest: float = -8.5, longest: float = 2) -> list[float]:
    """Times around one of any size (the powers of ten), spread by any amount."""
    size, spread = 10 ** rng.uniform(shortest, longest), rng.choice((1e-5, 1e-3, 0.03, 0.2, 1.0))
    return [size * (1 + spread * rng.random()) for _ in range(rng.choice((1, 2, 3, 4, 5, 9, 30)))]


@pytest.mark.parametrize("seed", range(40))
def test_statistics_and_text(seed: int) -> None:
    rng = random.Random(seed)
    number, task = rng.choice((1, 10, 1000)), TASKS[seed % len(TASKS)]
    times = [each * number for each in replicates(rng)]

    def facts(library: Any) -> Any:
        result = measured(library, times, number, **task)
        numbers = [getattr(result, name) for name in ("median", "mean", "iqr")]
        names = ("significant_figures", "has_warnings", "title", "as_row_name", "env", "times")
        others = [getattr(result, name) for name in names]
        return numbers, others, result.task_spec.summarize(), repr(result).partition("\n")[2]

    check(facts)


def test_merge() -> None:
    def merged(library: Any) -> Any:
        runs = [([1.0], 2, {}), ([2.0], 1, {"label": "l"}), ([3.0, 4.0], 4, {}), ([5.0], 1, {"env": "e"})]
        measurement = library.Measurement.merge(measured(library, times, n, **task) for times, n, task in runs)
        return [(each.number_per_run, each.raw_times, each.title, each.env) for each in measurement]

    check(merged)


def test_units() -> None:
    for time in (1e-9, 9e-9, 1.1e-7, 1e-6, 9.99e-4, 1.1e-3, 0.5, 1, 100):
        check(lambda library, time=time: [str(library.select_unit(time)[0]), float(library.select_unit(time)[1])])
    for unit in ("ns", "us", "ms", "s"):
        check(lambda library, unit=unit: library.unit_to_english(unit))
    for x, n in ((3.14159, 2), (12345, 2), (0.000123456, 3), (99.99, 1), (-2.5, 1)):
        check(lambda library, x=x, n=n: float(f"{library.trim_sigfig(x, n):.6g}"))


@pytest.mark.parametrize("seed", range(150))
def test_tables(seed: int) -> None:
    rng = random.Random(seed)
    environments = rng.choice(((None,), ("main",), ("main", "a branch"), ("x", "yy", "zzz")))
    times: dict[Any, list[float]] = {}
    shortest = rng.uniform(-8.5, -1)
    for _ in range(rng.randint(1, 25)):
        task = (
            ("label", rng.choice((None, "one", "another label"))),
            ("sub_label", rng.choice((None, "short", "a longer name", "other"))),
            ("description", rng.choice(("n=1", "n=1000", "a description of some length"))),
            ("env", rng.choice(environments)),
            ("num_threads", rng.choice((1, 2, 16))),
        )
        times.setdefault(task, replicates(rng, shortest, shortest + 3))
    flags = {name: rng.random() < 0.5 for name in ("trim_significant_figures", "highlight_warnings", "colorize")}
    rowwise = rng.random() < 0.5

    def table_of(library: Any) -> Any:
        table = library.Compare([measured(library, seconds, **dict(task)) for task, seconds in times.items()])
        for name, wanted in flags.items():
            if wanted:
                getattr(table, name)(*([rowwise] if name == "colorize" else []))
        return str(table).splitlines()

    check(table_of)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.Timer(3),
        lambda m: m.Timer("x +"),
        lambda m: m.Timer("1 / 0").timeit(3),
        lambda m: m.Timer(num_threads=0).timeit(3),
        lambda m: m.Timer(language="c--"),
        lambda m: m.Timer(global_setup="here"),
        lambda m: m.Timer().repeat(),
        lambda m: m.Timer().autorange(),
        lambda m: m.Compare([3]),
        lambda m: measured(m, [1.0]).nonsense,
    ],
)
def test_errors(call: Any) -> None:
    check(call)
