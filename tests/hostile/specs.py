"""Calls as data: what a seed chooses, the arguments that it stands for, and smaller calls of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any

import fuzzing
import opweave

from .arguments import PLAIN, nearly_right, random_argument
from .callables import Target, callables, schemas
from .families import programs

# {"name": path, "arguments": [recipes], "keywords": {name: recipe}}; a recipe is the seed of an argument, with the
# type, the shape and the dtype that are wanted where these are known, a key of PLAIN, or "argument N", that one again.
Spec = dict[str, Any]


def function_of(name: str) -> Callable[..., Any]:
    return (callables().get(name) or programs()[name]).function


@cache
def _chosen(only: str) -> list[tuple[float, Mapping[str, Target], bool]]:
    """How often operators, anything public, and programs are called; and whether they always get arguments of the types
    that they want."""
    parts = ((0.4, schemas(), True), (0.3, callables(), False), (0.3, programs(), True))
    found = [
        (share, {name: target for name, target in targets.items() if only in name}, typed)
        for share, targets, typed in parts
    ]
    return [part for part in found if part[1]]


def spec_of(seed: int, only: str = "") -> Spec:
    """`only`: what is in the name of the callable."""
    random = Random(seed)
    shares = _chosen(only)
    _, targets, typed = random.choices(shares, [share for share, _, _ in shares])[0]
    name = random.choice([*targets])
    target = targets[name]
    if target.types is not None and (typed or random.random() < 0.6):
        shape, dtype = fuzzing.random_shape(random), random.choice((*fuzzing.DTYPE_NAMES, "float32", "float32"))
        arguments: list[Any] = [[random.getrandbits(48), kind, shape, dtype] for kind in target.types]
        often = 0.1 if target.has_out else 0.15
        keywords: dict[str, Any] = {
            keyword: [random.getrandbits(48), kind, shape, dtype]
            for keyword, kind in target.keywords.items()
            if random.random() < often
        }
        if target.has_out and random.random() < 0.3:
            keywords["out"] = [random.getrandbits(48), "Tensor", shape, dtype]
    else:
        arguments = [random.getrandbits(48) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5)))]
        keywords = {each: random.getrandbits(48) for each in target.keywords if random.random() < 0.06}
    if "out" in keywords and arguments and random.random() < 0.5:
        keywords["out"] = f"argument {random.randrange(len(arguments))}"
    return {"name": name, "arguments": arguments, "keywords": keywords}


def made(recipe: Any, stage: list[Any]) -> Any:
    if isinstance(recipe, int):
        return random_argument(Random(recipe), stage)
    if not isinstance(recipe, str):
        seed, kind, shape, dtype = recipe
        return nearly_right(Random(seed), kind, tuple(shape), dtype, stage)
    if recipe in PLAIN:
        return PLAIN[recipe]()
    index = int(recipe.split()[1])
    return stage[index] if index < len(stage) else None


def smaller(spec: Spec) -> Iterator[Spec]:
    """Calls with fewer or plainer arguments."""
    arguments, keywords = spec["arguments"], spec["keywords"]
    for name in keywords:
        yield spec | {"keywords": {other: keywords[other] for other in keywords if other != name}}
    if arguments:
        yield spec | {"arguments": arguments[:-1]}
    for index, recipe in enumerate(arguments):
        if not isinstance(recipe, str):
            for plain in PLAIN:
                yield spec | {"arguments": [*arguments[:index], plain, *arguments[index + 1 :]]}


def described(spec: Spec) -> str:
    """The call as somebody would write it; what is behind an argument's seed is shown by its class and value."""
    stage: list[Any] = []
    for recipe in spec["arguments"]:
        stage.append(made(recipe, stage))
    texts = [_shown(each) for each in stage]
    texts += [f"{name}={_shown(made(recipe, stage))}" for name, recipe in spec["keywords"].items()]
    return f"{spec['name']}({', '.join(texts)})"


def _shown(value: Any) -> str:
    try:
        return fuzzing.describe(value)
    except Exception:  # an object that is not finished, or a tensor without strides
        return f"<{type(value).__name__}>" if not isinstance(value, opweave.Tensor) else _shown_tensor(value)


def _shown_tensor(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return "<unfinished>"
