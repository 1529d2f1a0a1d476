"""Hooks that see the gradients of all inputs and outputs of a module: nodes of the graph around its call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._base.tensor_class import Tensor
from ..._base.type_names import type_name

__all__ = ["BackwardHooks"]

_identity: Any = None


def _passed_on(tensors: list[Any]) -> tuple[Any, ...]:
    """The tensors as outputs of one node, through which all their gradients go."""
    global _identity
    if _identity is None:
        from ...autograd.function import Function

        class Identity(Function):
            @staticmethod
            def forward(ctx: Any, *values: Any) -> Any:
                ctx.mark_non_differentiable(*(each for each in values if not each.requires_grad))
                return values

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                return grads

        Identity.__name__ = Identity.__qualname__ = "BackwardHookFunction"
        _identity = Identity
    return _identity.apply(*tensors)  # type: ignore[no-any-return]


class BackwardHooks:
    """The hooks of one call."""

    def __init__(self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: Any = None
        self.inputs: list[int] | None = None
        self.outputs: list[int] = []
        self.counts = [0, 0]

    def on_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of forward, behind a node after which the hooks are called."""
        places = [place for place, each in enumerate(args) if isinstance(each, Tensor)]
        if not any(args[place].requires_grad for place in places):
            self.counts[0] = len(args)
            return args
        results = self._ow_around(args, places)
        self.inputs, self.counts[0] = places, len(args)
        self._node(results, places).register_hook(self._after_inputs)
        return results

    def on_outputs(self, result: Any) -> Any:
        """The result of forward, behind a node before which the hooks are called that come first."""
        single = isinstance(result, Tensor)
        values = (result,) if single else result
        if not isinstance(values, (tuple, list)):
            return result  # of other results no gradients are known
        places = [place for place, each in enumerate(values) if isinstance(each, Tensor)]
        if not any(values[place].requires_grad for place in places):
            return result
        results = self._ow_around(tuple(values), places)
        self.outputs, self.counts[1] = places, len(values)
        self._node(results, places).register_prehook(self._before_outputs)
        if single:
            return results[0]
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return type(result)(*results)
        return type(result)(results)

    def _ow_around(self, values: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
        replaced = list(values)
        for place, each in zip(places, _passed_on([values[place] for place in places]), strict=True):
            replaced[place] = each
        return tuple(replaced)

    @staticmethod
    def _node(values: tuple[Any, ...], places: list[int]) -> Any:
        return next(values[place].grad_fn for place in places if values[place].grad_fn is not None)

    @staticmethod
    def _spread(places: list[int], grads: Any, count: int) -> tuple[Any, ...]:
        result = [None] * count
        for place, grad in zip(places, grads, strict=True):
            result[place] = grad
        return tuple(result)

    def _before_outputs(self, grads: Any) -> Any:
        whole = self._spread(self.outputs, grads, self.counts[1])
        for hook in self.pre_hooks:
            other = hook(self.module, whole)
            if other is not None:
                whole = self._checked("Backward pre hook", other, len(whole), "grad_output")
        self.grad_outputs = whole
        if self.inputs is None:  # no gradient of an input will come
            nothing = self._spread([], [], self.counts[0])
            for hook in self.hooks:
                other = hook(self.module, nothing, whole)
                if other is not None and not (isinstance(other, tuple) and all(each is None for each in other)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients."
                    )
            self.grad_outputs = None
        return tuple(whole[place] for place in self.outputs)

    def _after_inputs(self, grads: Any, _: Any) -> Any:
        if self.grad_outputs is None or self.inputs is None:  # gradients came from elsewhere
            return None
        whole = self._spread(self.inputs, grads, self.counts[0])
        for hook in self.hooks:
            other = hook(self.module, whole, self.grad_outputs)
            if other is not None:
                whole = self._checked("Backward hook", other, len(whole), "grad_input")
        self.grad_outputs = None
        return tuple(whole[place] for place in self.inputs)

    @staticmethod
    def _checked(kind: str, value: Any, count: int, what: str) -> tuple[Any, ...]:
        result = value if isinstance(value, tuple) else (value,)
        if len(result) != count:
            raise RuntimeError(f"{kind} returned an invalid number of {what}, got {len(result)}, but expected {count}")
        if not all(each is None or isinstance(each, Tensor) for each in result):
            raise RuntimeError(f"{kind} must return tensors or None as {what}, but got {type_name(value)}")
        return result
