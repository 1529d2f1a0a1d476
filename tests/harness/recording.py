"""What torch answered: files of recorded outcomes, and the cursor of the running test in its own.

A test asks torch a sequence of questions, always the same ones. The file of its module holds the answers of each test
in that order, with a checksum of the questions: a test whose questions changed finds no answers until they are recorded
anew (`python tests/record.py`). Equal answers are stored once. A digest of the answers and of the sources that asked
for them tells which files need not be asked for again. Nothing here imports torch or opweave.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
FOLDER = TESTS / "recordings"
MODES = ("replay", "record", "check", "live")
"""Answers come from the files; from torch, and are kept; from torch, and must be those of the files; from torch, which
is asked in more cases than are recorded."""

Json = Any
Items = dict[str, tuple[int, list[str]]]
"""By test: the checksum of its questions, and the answers as JSON texts."""


class StaleError(Exception):
    """The recording does not answer what a test asks."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}: record it with `python tests/record.py`, where torch is installed")


# ---- files --------------------------------------------------------------------------------------------------


def path_of(module: str) -> Path:
    return FOLDER / f"{module}.json.gz"


def pack(items: Items, source: Path | None) -> bytes:
    """Bytes of a file of what `source` has asked; equal items make equal bytes, whatever machine packs them."""
    numbers: dict[str, int] = {}
    rows = {
        name: [items[name][0], *(numbers.setdefault(text, len(numbers)) for text in items[name][1])]
        for name in sorted(items)
    }
    answers = "[\n" + ",\n".join(numbers) + "\n]"
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
    content = f'"answers": {answers},\n"tests": {{\n{lines}\n}}}}\n'
    return gzip.compress(f"{heading(content, source)}\n{content}".encode(), 9, mtime=0)


def heading(content: str, source: Path | None) -> str:
    """First line of a file: the digest of the rest, of torch's release, and of the sources that may have asked."""
    digest = hashlib.sha256(f"{version('torch').partition('+')[0]}\n{content}".encode())
    if source is not None:
        helpers = [path for folder in (source.parent, TESTS / "harness") for path in folder.glob("*.py")]
        helpers = [path for path in helpers if not path.name.startswith("test_")]
        for path in [source, *sorted(helpers, key=attrgetter("name"))]:
            digest.update(path.read_bytes())
    return f'{{"digest": "{digest.hexdigest()}",'


def source_of(module: str) -> Path | None:
    """The test file of a recording; None where there is none of this name."""
    return next(TESTS.rglob(f"{module}.py"), None)


def is_fresh(module: str) -> bool:
    """True if neither a recording nor the sources have changed since torch was asked."""
    source = source_of(module)
    if source is None:
        return False
    first, _, content = gzip.decompress(path_of(module).read_bytes()).decode().partition("\n")
    return first == heading(content, source)


@cache
def load(module: str) -> tuple[list[Json], dict[str, list[int]]]:
    """The answers of a module's tests, and of each test its checksum and the places of its answers among them."""
    path = path_of(module)
    if not path.exists():
        return [], {}
    content = json.loads(gzip.decompress(path.read_bytes()))
    return content["answers"], content["tests"]


def text_of(answer: Json) -> str:
    """The one text of an answer."""
    return json.dumps(answer, separators=(",", ":"))


# ---- the running test ---------------------------------------------------------------------------------------


@dataclass
class Test:
    """The test that runs, and how far it has come in its recording."""

    module: str
    name: str
    mode: str
    checksum: int = 0
    asked: int = 0
    kept: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def row(self) -> list[int] | None:
        return load(self.module)[1].get(self.name)

    def next_answer(self, question: str) -> Json:
        """What was recorded for the next question."""
        self.count(question)
        row = self.row
        if row is None:
            raise StaleError(f"{self.module}: nothing is recorded for {self.name}")
        if self.asked >= len(row):
            raise StaleError(f"{self.module}: {self.name} asks more than is recorded, {question!r}")
        return load(self.module)[0][row[self.asked]]

    def keep(self, answer: Json) -> None:
        self.kept.append(text_of(answer))

    def count(self, question: str) -> None:
        self.note(question.encode())
        self.asked += 1

    def note(self, content: bytes) -> None:
        """Of the text of a question, or of the memory of an input."""
        self.checksum = zlib.crc32(content, self.checksum)

    def finish(self) -> None:
        """Raises what the test has found, at its end."""
        row = self.row
        if (
            self.mode in ("replay", "check")
            and self.asked
            and (row is None or row[0] != self.checksum or len(row) != self.asked + 1)
        ):
            raise StaleError(f"{self.module}: {self.name} does not ask what was recorded")
        if self.failures:
            shown = "\n".join(self.failures[:8])
            raise AssertionError(f"{len(self.failures)} answers differ from torch's:\n{shown}")


class Session:
    """The mode of a run, the test that runs, and what has been recorded."""

    def __init__(self) -> None:
        self.mode = "replay"
        self.test: Test | None = None
        self.recorded: dict[str, Items] = {}
        self.failed: set[str] = set()
        """Modules with tests that failed, which are not recorded."""

    def begin(self, module: str, name: str) -> None:
        self.test = Test(module, name, self.mode)

    def end(self) -> None:
        test, self.test = self.test, None
        if test is None or not test.asked:
            return
        if self.mode != "replay":
            self.recorded.setdefault(test.module, {})[test.name] = test.checksum, test.kept
        try:
            test.finish()
        except Exception:
            self.failed.add(test.module)
            raise

    def give_up(self) -> None:
        """A test has raised."""
        assert self.test is not None
        self.failed.add(self.test.module)
        self.test = None

    def write(self, folder: Path, worker: str) -> None:
        """What this process has recorded, for the command to put together."""
        (folder / f"{worker}.json").write_text(json.dumps([self.recorded, sorted(self.failed)]))


SESSION = Session()


def current() -> Test:
    assert SESSION.test is not None, "torch is asked within tests only"
    return SESSION.test


def answer(question: str, ask: Callable[[], Json]) -> Json:
    """The recorded answer to a question; where torch answers, that of `ask`, which may import it."""
    test = current()
    if test.mode == "replay":
        return test.next_answer(question)
    live = json.loads(text_of(ask()))
    if test.mode == "check":
        if test.next_answer(question) != live:
            test.failures.append(f"{question}: the recording is not what torch says")
    else:
        test.count(question)
        test.keep(live)
    return live


def merged(folder: Path) -> dict[str, Items]:
    """What all processes have recorded, of modules without failures."""
    results: dict[str, Items] = {}
    failures: set[str] = set()
    for part in sorted(folder.glob("*.json")):
        recorded, failed = json.loads(part.read_text())
        failures.update(failed)
        for module, items in recorded.items():
            results.setdefault(module, {}).update({name: (row[0], row[1]) for name, row in items.items()})
    return {module: items for module, items in results.items() if module not in failures}


# ---- names --------------------------------------------------------------------------------------------------

NAMES = "names"
"""The file of what torch's modules and classes have."""
PLACES = ("", "Tensor", "fft", "linalg", "nn.functional", "optim", "signal.windows", "special", "autograd", "func")


def names(find: Callable[[str], Any]) -> Items:
    """What the file holds, from torch."""
    return {module: (0, [text_of(sorted(dir(find(module))))]) for module in PLACES}


def has(path: str) -> bool:
    """Has torch this name, as `Tensor.add_` or `linalg.qr`?"""
    module, _, name = path.rpartition(".")
    return name in names_of(module)


@cache
def names_of(module: str) -> frozenset[str]:
    answers, tests = load(NAMES)
    return frozenset(answers[tests[module][1]]) if module in tests else frozenset()
