"""autograd: functions of users and hooks that give anything back, run forward and backward, twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import opweave
from opweave import autograd

from ..callables import Target


def targets() -> Mapping[str, Target]:
    return {
        "Function": Target(function, ("Tensor", "Tensor", "answer", "answer", "seed")),
        "hooks": Target(hooks, ("Tensor", "answer", "answer", "answer")),
        "saved": Target(saved, ("Tensor", "answer", "answer")),
        "checkpoint": Target(checkpoint, ("answer", "Tensor")),
        "transforms": Target(transforms, ("answer", "Tensor", "seed")),
    }


def function(x: Any, y: Any, forward_answer: Any, backward_answer: Any, seed: int) -> Any:
    class Hostile(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            result = forward_answer(x, y)
            if seed & 1:
                ctx.save_for_backward(x, result if seed & 2 else y)
            if seed & 4:
                ctx.mark_dirty(x)
            if seed & 8:
                ctx.mark_non_differentiable(result)
            ctx.set_materialize_grads(bool(seed & 16))
            return result

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            kept = ctx.saved_tensors
            return backward_answer(*(kept if seed & 32 else grads))

    x = x.clone().requires_grad_() * 1 if seed & 64 else x
    result = Hostile.apply(x, y)
    first = result[0] if isinstance(result, tuple) else result
    first.sum().backward(create_graph=bool(seed & 128), retain_graph=True)
    first.sum().backward()
    return result


def hooks(x: Any, of_tensor: Any, of_node: Any, after: Any) -> Any:
    x = x.detach().clone().requires_grad_()
    y = (x * 2).exp()
    x.register_hook(of_tensor)
    y.register_hook(of_tensor)
    y.grad_fn.register_hook(of_node)
    y.grad_fn.register_prehook(of_node)
    x.register_post_accumulate_grad_hook(after)
    y.sum().backward()
    return x.grad


def saved(x: Any, pack: Any, unpack: Any) -> Any:
    x = x.detach().clone().requires_grad_()
    with autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp().sum()
    y.backward()
    return x.grad


def checkpoint(answer: Any, x: Any) -> Any:
    x = x.detach().clone().requires_grad_()
    opweave.utils.checkpoint.checkpoint(answer, x, use_reentrant=False).sum().backward()
    return x.grad


def transforms(answer: Any, x: Any, seed: int) -> Any:
    way = getattr(opweave.func, opweave.func.__all__[seed % len(opweave.func.__all__)])
    return way(answer)(x)
