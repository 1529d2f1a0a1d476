"""Capsules of DLPack whose facts are wrong, and objects that hand out something else."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import opweave
from harness.capsules import Maker

from ..callables import Target

_MAKER = Maker()


def targets() -> Mapping[str, Target]:
    return {
        "facts": Target(facts, ("seed",)),
        "taken twice": Target(twice, ("Tensor",)),
        "producer": Target(producer, ("answer", "answer", "any")),
        "exported": Target(exported, ("Tensor", "any", "any")),
    }


def facts(seed: int) -> Any:
    """Sizes and steps that stay within the eight elements, or that no memory has."""
    random = Random(seed)
    count = random.randrange(4)
    shape = tuple(random.choice((1, 2, 2, 2, 0, -1, 2**62)) for _ in range(count))
    strides = random.choice((None, tuple(random.choice((1, 1, 2, 0, 2**62, -(2**63))) for _ in range(count))))
    wrong = {
        "device_type": random.choice((1, 2, 0, 99, -1)), "data": None, "byte_offset": random.choice((0, 2, 2**64 - 16)),
        "ndim": random.choice((-1, 65, 1000)), "lanes": random.choice((0, 4)), "bits": random.choice((0, 1, 8, 16, 33)),
        "code": random.randrange(20), "major": random.choice((0, 2)), "flags": random.randrange(16),
    }  # fmt: skip
    chosen = {name: wrong[name] for name in wrong if random.random() < 0.12}
    return opweave.from_dlpack(_MAKER(shape, strides, random.random() < 0.5, **chosen))


def twice(tensor: Any) -> Any:
    capsule = opweave.to_dlpack(tensor)
    opweave.from_dlpack(capsule)
    return opweave.from_dlpack(capsule)


def producer(capsule: Any, device: Any, junk: Any) -> Any:
    class Producer:
        def __dlpack__(self, **keywords: Any) -> Any:
            return capsule(junk)

        def __dlpack_device__(self) -> Any:
            return device((1, 0))

    return opweave.from_dlpack(Producer())


def exported(tensor: Any, stream: Any, version: Any) -> Any:
    return opweave.from_dlpack(tensor.__dlpack__(stream=stream, max_version=version))
