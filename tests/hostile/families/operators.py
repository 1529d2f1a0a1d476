"""Operators of users: schemas that are none, functions that give anything back."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import opweave
from opweave import library

from ..callables import Target

_WORDS = ("op", "(", ")", "Tensor", "Tensor(a!)", "Tensor?", "Tensor[]", "int", "int[2]", "x", "y", ", ", "*", "=", "1",
          "->", " ", "Scalar", "str", "bool", "float?", "None", '"', "()", "(Tensor, Tensor)")  # fmt: skip
_SCHEMAS = ("op(Tensor x) -> Tensor", "op(Tensor(a!) x) -> Tensor(a!)", "op(Tensor x, Scalar y=1) -> (Tensor, Tensor)",
            "op(Tensor[] x) -> Tensor[]", "op(Tensor? x, int[2] y=[1, 2]) -> ()",
            "op(Tensor(a) x) -> Tensor(a)")  # fmt: skip
_KEYS = ("CPU", "Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd", "junk")


def targets() -> Mapping[str, Target]:
    return {
        "Library": Target(defined, ("seed", "answer", "Tensor", "any")),
        "custom_op": Target(custom, ("seed", "answer", "answer", "answer", "Tensor")),
    }


def defined(seed: int, answer: Any, x: Any, more: Any) -> Any:
    random = Random(seed)
    schema = random.choice(_SCHEMAS)
    if random.random() < 0.3:
        schema = "".join(random.choice(_WORDS) for _ in range(random.randrange(1, 14)))
    owner = library.Library("hostile", "FRAGMENT")
    try:
        name = owner.define(schema)
        for _ in range(random.randrange(3)):
            owner.impl(name, answer, random.choice(_KEYS))
        function = getattr(opweave.ops.hostile, name)
        return function(x) if random.random() < 0.7 else function(x, more)
    finally:
        owner._destroy()


def custom(seed: int, answer: Any, fake: Any, backward: Any, x: Any) -> Any:
    def body(x: opweave.Tensor) -> opweave.Tensor:
        return answer(x)  # type: ignore[no-any-return]

    made = library.custom_op("hostile::made", body, mutates_args=("x",) if seed & 1 else ())
    made.register_fake(fake)
    if not seed & 1:
        made.register_autograd(lambda ctx, *grads: backward(*grads), setup_context=None)
    result = made(x)
    if isinstance(result, opweave.Tensor) and result.requires_grad:
        result.sum().backward()
    return result
