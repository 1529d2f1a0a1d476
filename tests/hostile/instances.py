"""Objects of the package's classes, for methods; and values of the further kinds that families ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

import opweave
from opweave import distributions, nn, optim

from .actors import Actor
from .tensors import random_representation, random_tensor


def instance(random: Random, name: str) -> Any:
    """An object of the public class of this name: one as its constructor makes it, or as `__new__` alone leaves it."""
    kind = _classes().get(name)
    if kind is None or random.random() < 0.1:
        return random_tensor(random)
    if random.random() < 0.8:
        for base, make in MAKERS.items():
            if issubclass(kind, base) or issubclass(base, kind):
                return make(random)
        if issubclass(kind, nn.Module):
            return layer(random, kind)
    try:
        return kind.__new__(kind)
    except (TypeError, RuntimeError):
        return kind


@cache
def _classes() -> Mapping[str, type]:
    spaces = (distributions, nn, optim, optim.lr_scheduler, opweave.autograd, opweave)
    return {name: value for space in spaces for name, value in vars(space).items() if isinstance(value, type)}


def layer(random: Random, kind: type[Any]) -> Any:
    """A layer with small numbers for what has no default."""
    wanted = [each for each in inspect.signature(kind.__init__).parameters.values() if each.default is each.empty]
    places = [each for each in wanted if each.name != "self" and each.kind is each.POSITIONAL_OR_KEYWORD]
    try:
        return kind(*(random.choice((1, 2, 2, 4)) for _ in places))
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
        return nn.Linear(2, 3)


def parameter(random: Random) -> Any:
    """A leaf with a gradient, which may be sparse, of another shape, or none."""
    result = nn.Parameter(
        opweave.randn(random.choice((0, 1, 3)), 2, dtype=random.choice((opweave.float32, opweave.float64)))
    )
    choice = random.random()
    if choice < 0.6:
        result.grad = opweave.randn_like(result)
    elif choice < 0.75 and result.numel():
        result.grad = opweave.randn_like(result).to_sparse(1)
    return result


def optimizer(random: Random) -> Any:
    kind = random.choice([each for name, each in vars(optim).items() if isinstance(each, type) and name != "Optimizer"])
    options = {"lr": 0.1} if kind is not optim.Adafactor else {}
    return kind([parameter(random) for _ in range(random.choice((1, 2, 3)))], **options)


def distribution(random: Random) -> Any:
    shape = random.choice(((), (1,), (3,), (0,), (2, 3)))
    low, one = opweave.zeros(shape), opweave.rand(shape) + 0.1
    return random.choice((
        lambda: distributions.Normal(low, one), lambda: distributions.Uniform(low, one),
        lambda: distributions.Bernoulli(probs=low + 0.5), lambda: distributions.Gamma(one, one),
        lambda: distributions.Categorical(opweave.ones(*shape, 2)), lambda: distributions.Binomial(3, low + 0.5),
        lambda: distributions.Dirichlet(opweave.ones(*shape, 2)), lambda: distributions.Poisson(one),
        lambda: distributions.MultivariateNormal(opweave.zeros(*shape, 2), opweave.eye(2)),
    ))()  # fmt: skip


def storage(random: Random) -> Any:
    made = random.choice((
        lambda: opweave.UntypedStorage(random.choice((0, 1, 8, 100))), lambda: opweave.FloatStorage([1, 2, 3]),
        lambda: opweave.ones(2, 3).untyped_storage(), lambda: opweave.arange(4).storage(),
        lambda: random_representation(random).untyped_storage(),
        lambda: opweave.ones(2, device="meta").untyped_storage(),
    ))  # fmt: skip
    try:
        return made()
    except (RuntimeError, NotImplementedError):
        return opweave.UntypedStorage(3)


MAKERS: Mapping[type, Callable[[Random], Any]] = {
    opweave.Tensor: random_tensor,
    optim.Optimizer: optimizer,
    distributions.Distribution: distribution,
    opweave.UntypedStorage: storage,
    opweave.TypedStorage: storage,
    opweave.Generator: lambda random: opweave.Generator().manual_seed(random.randrange(9)),
    opweave.Size: lambda random: opweave.Size([random.randrange(4) for _ in range(random.randrange(4))]),
    opweave.device: lambda random: opweave.device(random.choice(("cpu", "meta"))),
}


class Answer:
    """What code of users gives back: what it was given, changed, doubled, junk, nothing, or an exception."""

    def __init__(self, random: Random, stage: list[Any]) -> None:
        self.actor = Actor(random, stage)
        self.way = random.choice([*WAYS])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        tensors = [each for each in arguments if isinstance(each, opweave.Tensor)]
        return WAYS[self.way](tensors[0] if tensors else opweave.ones(2), self.actor)

    def __repr__(self) -> str:
        return f"Answer({self.way})"


WAYS: Mapping[str, Callable[[Any, Any], Any]] = {
    "same": lambda x, actor: x,
    "double": lambda x, actor: x * 2,
    "view": lambda x, actor: x[..., :1],
    "pair": lambda x, actor: (x, x),
    "none": lambda x, actor: None,
    "nones": lambda x, actor: (None, None, None, None),
    "text": lambda x, actor: "text",
    "list": lambda x, actor: [x, 1],
    "scalar": lambda x, actor: 1.5,
    "other dtype": lambda x, actor: x.to(opweave.float64).to(opweave.int64),
    "other shape": lambda x, actor: opweave.ones(5, 7, 2),
    "in place": lambda x, actor: x.mul_(2),
    "shrunk": lambda x, actor: x.detach().resize_(0),
    "unfinished": lambda x, actor: opweave.Tensor.__new__(opweave.Tensor),
    "sparse": lambda x, actor: x.to_sparse(),
    "meta": lambda x, actor: x.to("meta"),
    "complex": lambda x, actor: x * 1j,
    "act": lambda x, actor: (actor.act(), x)[1],
    "backward": lambda x, actor: (x.sum().backward(), x)[1],
}

KINDS: Mapping[str, Callable[[Random, list[Any]], Any]] = {
    "answer": Answer,
    "parameters": lambda random, stage: [parameter(random) for _ in range(random.choice((0, 1, 2, 3)))],
    "parameter": lambda random, stage: parameter(random),
    "storage": lambda random, stage: storage(random),
    "distribution": lambda random, stage: distribution(random),
    "optimizer": lambda random, stage: optimizer(random),
    "seed": lambda random, stage: random.getrandbits(32),
    "representation": lambda random, stage: random_representation(random),
}
"""By name: what makes a value, of the choices and of the arguments before it."""
