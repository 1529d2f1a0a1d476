"""Where xdist's workers run the tests, a few consecutive cases of a module are one item for it.

A worker sends five messages for each item, which takes longer than most cases do. Each case of a batch runs as ever,
with its own fixtures. What fails, is skipped or takes long is reported under its own name; the other cases are reported
together, and counted one by one where the reports arrive. Without workers (`-n 0`) nothing here takes part.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from itertools import groupby

import pytest
from _pytest.runner import runtestprotocol

MOST = 32
"""Cases in a batch,"""
LEAST = 16
"""and batches that a module has at least, if it has so many cases: workers share them."""
LONG = 0.05
"""Seconds of a case that is reported by itself, for `--durations`."""
REPORTS = pytest.StashKey[list[pytest.TestReport]]()


class Batch(pytest.Item):
    """Consecutive cases of one module."""

    cases: list[pytest.Item]
    reported: str | None = None
    """The name of the case that is reported just now: xdist takes the reports of an item under its name only."""

    @property
    def nodeid(self) -> str:
        return self.reported or f"{self.cases[0].nodeid} and {len(self.cases) - 1} more"

    following: pytest.Item | None
    """What runs next: its fixtures stay."""

    def runtest(self) -> None:
        apart, short = [], []
        for case, after in zip(self.cases, [*self.cases[1:], self.following], strict=True):
            case.stash[REPORTS] = reports = []
            case.config.hook.pytest_runtest_protocol(item=case, nextitem=after)
            for report in reports:
                if not report.passed or hasattr(report, "wasxfail") or report.duration > LONG:
                    apart.append(report)
                elif report.when == "call":
                    short.append(report)
        apart += short[:1]
        apart[-1].user_properties.append(("batch", [len({report.nodeid for report in apart}), len(short)]))
        for report in apart:
            self.reported = report.nodeid
            self.ihook.pytest_runtest_logreport(report=report)
        self.reported = None


def batches(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    for _, group in groupby(items, lambda item: item.path):
        cases = list(group)
        size = min(MOST, len(cases) // LEAST)
        if size < 2:
            yield from cases
            continue
        for start in range(0, len(cases), size):
            batch: Batch = Batch.from_parent(cases[start].parent, name="batch")
            batch.cases = cases[start : start + size]
            yield batch


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items[:] = batches(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    following = nextitem.cases[0] if isinstance(nextitem, Batch) else nextitem
    if isinstance(item, Batch):
        item.following = following
        item.runtest()
    elif REPORTS in item.stash:
        item.stash[REPORTS] += runtestprotocol(item, log=False, nextitem=following)
    elif isinstance(nextitem, Batch):
        runtestprotocol(item, nextitem=following)
    else:
        return None
    return True


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, numbers in report.user_properties if hasattr(report, "node") else ():
        if name == "batch":
            names, short = numbers
            find = report.node.config.pluginmanager.get_plugin
            find("session").testscollected += names - 1
            other = copy.copy(report)
            other.duration = 0
            find("terminalreporter").stats.setdefault("passed", []).extend([other] * (short - 1))
