"""Short programs of views and operators, in place and not, recorded and not: the gradients beside those of torch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from harness import oracle
from harness.oracle import Like

PROGRAMS = 900
STEPS = 9

VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x[0] if x.ndim else x.view(()),
    lambda x: x[..., 1:] if x.ndim and x.shape[-1] > 1 else x.view(x.shape),
    lambda x: x.t() if x.ndim <= 2 else x.transpose(0, 1),
    lambda x: x.reshape(-1),
    lambda x: x.unsqueeze(0),
    lambda x: x.squeeze(),
    lambda x: x.diagonal() if x.ndim >= 2 else x.view(x.shape),
    lambda x: x.narrow(0, 0, 1) if x.ndim else x.view(()),
    lambda x: x.permute(tuple(reversed(range(x.ndim)))),
    lambda x: x.expand(2, *x.shape),
    lambda x: x.unfold(0, 2, 1) if x.ndim and x.shape[0] > 1 else x.view(x.shape),
    lambda x: x.as_strided((2, 2), (1, 1)) if x.is_contiguous() and x.numel() > 2 else x.view(x.shape),
    lambda x: x.unbind(0)[0] if x.ndim else x.view(()),
)
IN_PLACE: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x.mul_(y.sum()),
    lambda x, y: x.add_(y.mean(), alpha=2),
    lambda x, y: x.sigmoid_(),
    lambda x, y: x.zero_(),
    lambda x, y: x.copy_(y.sum()),
    lambda x, y: x.pow_(2),
    lambda x, y: x.clamp_(-1, 1),
    lambda x, y: x.fill_(3.0),
    lambda x, y: x.sin_(),
    lambda x, y: x.masked_fill_(x > 0.5, 1.0) if all(x.stride()) else x.mul_(2),
    lambda x, y: x.data.mul_(1.25),
    lambda x, y: x.detach().mul_(1.25),
    lambda x, y: (
        x.index_fill_(0, (x.detach().reshape(-1)[:1] * 0).long(), 0.5) if x.ndim and all(x.stride()) else x.mul_(2)
    ),
)
NEW: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x * y.sum(),
    lambda x, y: x.sin() + y.mean(),
    lambda x, y: x / (y.sum() ** 2 + 3),
    lambda x, y: x.sum(0) if x.ndim else x * 1,
    lambda x, y: x.cumsum(0) if x.ndim else x * 1,
    lambda x, y: x.tanh(),
    lambda x, y: x.detach(),
    lambda x, y: x.clone(),
    lambda x, y: x.requires_grad_(),
    lambda x, y: (x.retain_grad(), x)[1],
    lambda x, y: x.data,
    lambda x, y: x.max(0)[0] if x.ndim else x * 1,
    lambda x, y: x[[0]] if x.ndim else x * 1,
)


def user_functions(package: Any) -> tuple[Callable[[Any], Any], ...]:
    """Of the user's: one whose result is new, is a view, is its input, and is overwritten by it."""

    class New(package.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3 + 0 * ctx.saved_tensors[0]

    class View(New):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.view(x.shape)

    class Same(New):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x

    class Dirty(package.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    return New.apply, View.apply, Same.apply, Dirty.apply


def steps_of(seed: int) -> list[tuple[str, float, float, int]]:
    drawn = random.Random(seed)
    kinds = ("view", "in place", "new", "in place unrecorded", "view unrecorded", "view inferred", "function")
    return [
        (drawn.choices(kinds, (6, 6, 6, 2, 2, 1, 2))[0], drawn.random(), drawn.random(), drawn.randrange(60))
        for _ in range(drawn.randint(2, STEPS))
    ]


def step(package: Any, kind: str, which: int, x: Any, y: Any) -> Any:
    mode = package.inference_mode() if kind == "view inferred" else package.set_grad_enabled("unrecorded" not in kind)
    with mode:
        if kind == "function":
            return user_functions(package)[which % 4](x)
        if kind.startswith("view"):
            views = VIEWS[:3] if kind == "view inferred" else VIEWS  # others may be copies, which belong to the mode
            return views[which % len(views)](x)
        functions = IN_PLACE if kind.startswith("in place") else NEW
        return functions[which % len(functions)](x, y)


def run(package: Any, seed: int) -> list[Any]:
    """What every step gives, or the type of its error, and the gradients of all leaves."""
    base = package.arange(1.0, 7.0).reshape(2, 3) / 4
    first, second = base.clone().requires_grad_(), (base / 2).requires_grad_()
    tensors, seen = [first, second, first * 1, base.clone()], []
    for kind, x, y, which in steps_of(seed):
        try:
            results = step(package, kind, which, tensors[int(x * len(tensors))], tensors[int(y * len(tensors))])
            now = (tuple(results.shape), results.requires_grad, results.is_leaf, *results.detach().reshape(-1).tolist())
        except RuntimeError as error:
            seen.append(type(error).__name__)
            continue
        tensors.append(results)
        seen.append(now)
    try:
        sum((each * each).sum() for each in tensors).backward()
    except RuntimeError:
        return [*seen, "backward failed"]
    gradients = [each.grad for each in (first, second)]
    gradients += [each.grad for each in tensors if each.requires_grad and not each.is_leaf and each.retains_grad]
    return [*seen, *(None if each is None else each.reshape(-1).tolist() for each in gradients)]


LIKE = Like(rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("start", range(0, PROGRAMS, 100))
def test_as_torch(start: int) -> None:
    for seed in oracle.sweep(range(start, start + 100), 40):
        want = oracle.ask(lambda package, seed=seed: run(package, seed), f"program {seed}", LIKE)
        if want.items[-1] != "backward failed":  # where saved tensors were overwritten, of which torch keeps more
            oracle.agree(lambda package, seed=seed: run(package, seed), want, f"{seed} {steps_of(seed)}", LIKE)
