"""Gives each test its recording of what torch answered (harness/recording.py), and reports at its end what differs."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from harness.recording import MODES, SESSION


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("oracle", "what torch answers")
    group.addoption("--oracle", choices=MODES, default=MODES[0], help="answers are replayed, recorded or checked")
    group.addoption("--oracle-parts", metavar="FOLDER", help="where each process writes what it has recorded")


def pytest_configure(config: pytest.Config) -> None:
    SESSION.mode = config.getoption("--oracle")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    SESSION.begin(item.path.stem, item.nodeid.partition("::")[2])
    try:
        yield
    except pytest.skip.Exception:
        SESSION.test = None
        raise
    except BaseException:
        SESSION.give_up()
        raise
    SESSION.end()


def pytest_sessionfinish(session: pytest.Session) -> None:
    folder = session.config.getoption("--oracle-parts")
    if folder and SESSION.recorded:
        SESSION.write(Path(folder), getattr(session.config, "workerinput", {}).get("workerid", "main"))
