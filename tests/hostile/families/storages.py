"""Storages that are resized, shared, seen as other dtypes, and read by tensors meanwhile."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import opweave

from ..callables import Target


def targets() -> Mapping[str, Target]:
    return {
        "set_": Target(set_, ("Tensor", "storage", "count", "SymInt[]", "SymInt[]")),
        "resized": Target(resized, ("Tensor", "any")),
        "items": Target(items, ("storage", "any", "any")),
        "copied": Target(copied, ("storage", "storage")),
        "buffer": Target(buffer, ("any", "any", "count", "count")),
        "from_file": Target(from_file, ("seed",)),
        "as_strided": Target(as_strided, ("representation", "SymInt[]", "SymInt[]", "count")),
    }


def set_(tensor: Any, storage: Any, offset: Any, size: Any, stride: Any) -> Any:
    return tensor.set_(storage, offset, size, stride)


def resized(tensor: Any, size: Any) -> Any:
    """A tensor whose memory is taken away is refused where it is used, not read."""
    tensor.untyped_storage().resize_(size)
    return tensor.clone()


def items(storage: Any, index: Any, value: Any) -> Any:
    storage[index] = value
    storage.fill_(value)
    return storage[index]


def copied(storage: Any, other: Any) -> Any:
    return storage.copy_(other)


def buffer(source: Any, dtype: Any, count: Any, offset: Any) -> Any:
    return opweave.frombuffer(
        source if isinstance(source, opweave.Tensor) else bytearray(24), dtype=dtype, count=count, offset=offset
    )


def from_file(seed: int) -> Any:
    random = Random(seed)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(bytes(random.choice((0, 1, 7, 24))))
        size = random.choice((0, 1, 3, 6, 7, 100, -1, 2**62))
        if random.random() < 0.5:
            return opweave.UntypedStorage.from_file(file.name, random.random() < 0.5, size)
        return opweave.from_file(
            file.name, random.random() < 0.5, size, dtype=random.choice((opweave.float32, opweave.uint8))
        )


def as_strided(tensor: Any, size: Any, stride: Any, offset: Any) -> Any:
    return tensor.as_strided(size, stride, offset)
