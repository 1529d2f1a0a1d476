"""Files that are damaged: an error, or what can be read; never a crash, and in bounded time."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import opweave
from harness.damage import archived, damage, look, saved
from opweave import safetensors

from ..callables import Target
from ..tensors import coordinates, quantized


def targets() -> Mapping[str, Target]:
    return {
        "archive": Target(archive, ("seed",)),
        "pickle in an archive": Target(pickle_in_archive, ("seed",)),
        "old format": Target(old_format, ("seed",)),
        "safetensors": Target(safe, ("seed",)),
        "numbers of safetensors": Target(safe_numbers, ("seed",)),
        "saved": Target(saved_junk, ("any", "bool")),
    }


@cache
def content() -> Any:
    x = opweave.arange(6.0).reshape(2, 3)
    return {
        "x": x, "row": x[1], "parameter": opweave.nn.Parameter(x.double()), "n": [1, (None, "text")],
        "state": opweave.nn.Linear(2, 1).state_dict(), "complex": opweave.ones(2).to(opweave.complex64).conj(),
        "sparse": coordinates(Random(3)), "quantized": quantized(Random(1)), "storage": x.untyped_storage(),
    }  # fmt: skip


@cache
def _whole(old: bool) -> bytes:
    return saved(content(), _use_new_zipfile_serialization=not old)


def _loaded(data: bytes, random: Random) -> None:
    if random.random() < 0.3:
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            Path(file.name).write_bytes(data)
            look(opweave.load(file.name, mmap=random.random() < 0.7))
    else:
        look(opweave.load(io.BytesIO(data)))


def _damaged(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    damage(random, changed)
    return bytes(changed)


def archive(seed: int) -> None:
    random = Random(seed)
    _loaded(_damaged(_whole(False), random), random)


def old_format(seed: int) -> None:
    random = Random(seed)
    _loaded(_damaged(_whole(True), random), random)


def pickle_in_archive(seed: int) -> None:
    """The archive around it fits, so that the pickle is read whatever it says."""
    random = Random(seed)
    with zipfile.ZipFile(io.BytesIO(_whole(False))) as file:
        records = {name.partition("/")[2]: file.read(name) for name in file.namelist()}
    storages = {name.partition("/")[2]: data for name, data in records.items() if name.startswith("data/")}
    _loaded(archived(_damaged(records["data.pkl"], random), storages), random)


def _safe_whole() -> bytes:
    return safetensors.save({"x": opweave.arange(6.0).reshape(2, 3), "half": opweave.ones(3, dtype=opweave.bfloat16)})


def _safe_loaded(data: bytes) -> None:
    look(safetensors.load(data))
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        look(safetensors.load_file(file.name))


def safe(seed: int) -> None:
    _safe_loaded(_damaged(_safe_whole(), Random(seed)))


def safe_numbers(seed: int) -> None:
    """The header is well formed and says wrong things."""
    random, data = Random(seed), _safe_whole()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    entry = header[random.choice(("x", "half"))]
    field = random.choice(("dtype", "shape", "data_offsets"))
    numbers = [random.choice((0, 1, 2, 3, 6, 24, 30, -1, 2**40, 2**63, 2**64, 1.5, "a", None)) for _ in range(2)]
    entry[field] = (
        random.choice(("F32", "BF16", "F64", "U8", "BOOL", "F8_E5M2", "X", 3)) if field == "dtype" else numbers
    )
    text = json.dumps(header).encode()
    _safe_loaded(len(text).to_bytes(8, "little") + text + data[8 + length :])


def saved_junk(value: Any, old: bool) -> None:
    look(opweave.load(io.BytesIO(saved(value, _use_new_zipfile_serialization=not old))))
