"""Arguments: junk of every kind, and nearly right ones of the types that a schema or a signature wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import fuzzing
import opweave

from .actors import Actor, Long
from .instances import KINDS, instance
from .tensors import Kind, random_representation, random_tensor

WORDS = (
    "",
    "mean",
    "sum",
    "none",
    "ij,jk",
    "constant",
    "cpu",
    "meta",
    "\0",
    "float32",
    "𝔘" * 3,
    "zeros",
    "same",
    "gelu",
)


def random_argument(random: Random, stage: list[Any], depth: int = 0) -> Any:
    """`stage`: the arguments before it, which an actor acts on."""
    choice = random.random()
    if choice < 0.45:
        return random_tensor(random)
    if choice < 0.5 and stage:
        return random.choice(stage)
    if choice < 0.62:
        return random.randint(-4, 4)
    if choice < 0.7:
        return random.choice(fuzzing.NUMBERS)
    if choice < 0.76:
        return random.choice(fuzzing.JUNK)
    if choice < 0.84:
        return Actor(random, stage)
    if choice < 0.95 and depth < 3:
        results = [random_argument(random, stage, depth + 1) for _ in range(random.choice((0, 1, 2, 2, 3)))]
        return random.choice((list, tuple))(results)
    if choice < 0.97:
        return Long(random.choice((0, 1, 1.5, None, opweave.ones(1))))
    return random.choice((*WORDS, opweave.device("cpu"), opweave.Size([2]), opweave.default_generator, Kind))


def nearly_right(random: Random, kind: str, shape: tuple[int, ...], dtype: str, stage: list[Any]) -> Any:
    """An argument of the type that is wanted, often one that acts in its place."""
    choice = random.random()
    if kind == "few":
        return random.choice((1, 2, 0, -1))
    if choice < 0.06 or kind == "any":
        return random_argument(random, stage)
    if kind.startswith("self "):
        return instance(random, kind.removeprefix("self "))
    if kind in KINDS:
        return KINDS[kind](random, stage)
    if not kind.startswith("Tensor") and choice < 0.2:
        actor = Actor(random, stage)
        return [actor] * random.choice((1, 2, 3)) if kind.rstrip("?").endswith("]") and choice < 0.15 else actor
    if kind == "count":
        return random.choice((*shape, 1, 2, 3, 4, True, 0, -1))
    if kind == "word":
        return random.choice(WORDS)
    if kind.startswith("Tensor") and "[" in kind:
        return [nearly_right(random, "Tensor", shape, dtype, stage) for _ in range(random.choice((0, 1, 2, 3)))]
    if kind.startswith("Tensor") and stage and choice < 0.12:
        return random.choice(stage)
    if kind.startswith("Tensor") and choice < 0.2:
        return random_representation(random)
    return fuzzing.random_argument(random, kind, shape, dtype)


PLAIN: Mapping[str, Callable[[], Any]] = {
    "ones": lambda: opweave.ones(2, 3),
    "one": lambda: 1,
    "none": lambda: None,
    "list": lambda: [0, 1],
    "float": lambda: 0.5,
}
"""What reducing a call puts in place of an argument."""
