"""Files and what damages them."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import opweave as ow
from opweave.serialization.archive_writer import ArchiveWriter


def saved(obj: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    ow.save(obj, file, **options)
    return file.getvalue()


def archived(pickled: bytes, storages: dict[str, bytes] | None = None, **records: bytes) -> bytes:
    """A file with this pickle."""
    file = io.BytesIO()
    archive = ArchiveWriter(file.write, "archive")
    archive.record("data.pkl", pickled)
    for name, data in {".format_version": b"1", "byteorder": b"little", **records}.items():
        archive.record(name, data)
    for key, data in (storages or {}).items():
        archive.record(f"data/{key}", data)
    archive.finish()
    return file.getvalue()


def look(value: Any) -> None:
    """Reads every tensor, which ends the process where one reaches beyond its memory."""
    seen, waiting = set(), [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, ow.Tensor):
            if not each.is_meta and each.numel() < 10_000:
                each.detach().tolist()
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, (list, tuple, set)):
            waiting += each


# ---- mutations --------------------------------------------------------------------------------------------------

Mutation = Callable[[random.Random, bytearray], object]


def flip(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwrite(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] = rng.choice(b"\0\1\x7f\xff\x80.()}]RQbtsuqhKNX\x81\x85\x86\x87\x8a")


def widen(rng: random.Random, data: bytearray) -> None:
    place = rng.randrange(len(data))
    data[place : place + 4] = rng.choice((b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", bytes(4)))


def cut(rng: random.Random, data: bytearray) -> None:
    place = rng.randrange(len(data))
    del data[place : place + rng.randrange(1, 9)]


def repeat(rng: random.Random, data: bytearray) -> None:
    place, source = rng.randrange(len(data)), rng.randrange(len(data))
    data[place:place] = data[source : source + rng.randrange(1, 40)]


def truncate(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


WAYS: tuple[Mutation, ...] = (flip, overwrite, widen, cut, repeat, truncate)


def damage(rng: random.Random, data: bytearray) -> None:
    """Does one to four mutations."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if data:
            rng.choice(WAYS)(rng, data)
