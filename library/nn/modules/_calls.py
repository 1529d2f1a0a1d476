"""The call of a module: its hooks, and those of all modules, around `forward`."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..._autograd.node import RemovableHandle
from ..._base.tensor_class import Tensor
from ._backward_hooks import BackwardHooks
from ._global_hooks import ALL

__all__ = ["Calls"]


class Calls:
    """Mixed into Module: `module(...)`, and the registration of hooks."""

    forward: Callable[..., Any]
    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _backward_pre_hooks: OrderedDict[int, Any]
    _backward_hooks: OrderedDict[int, Any]
    _is_full_backward_hook: bool | None
    _compiled_call_impl: Callable[..., Any] | None = None
    """The compiled call, where there is one."""

    # ---- registering ----

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`.

        Args:
            hook: it may return other arguments, a tuple or one value.
            prepend (bool): whether it comes before all hooks that are there.
            with_kwargs (bool): whether it is called as `hook(module, args, kwargs)`, and returns both or None.
        """
        handle = _added(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`.

        Args:
            hook: it may return another output.
            prepend (bool): whether it comes before all hooks that are there.
            with_kwargs (bool): whether it is called as `hook(module, args, kwargs, output)`.
            always_call (bool): whether it is called also if the call raises.
        """
        handle = _added(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before gradients go through the module; it may return other ones."""
        return _added(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are there; it may return other
        ones in their place.

        Raises:
            RuntimeError: the module has hooks of the old kind.
        """
        self._ow_set_full(True)
        return _added(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` with the gradients of the node that computed the output, which
        may be but the last of the module's. Use `register_full_backward_hook`.

        Raises:
            RuntimeError: the module has full hooks.
        """
        self._ow_set_full(False)
        return _added(self._backward_hooks, hook, False)

    def _ow_set_full(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full

    # ---- calling ----

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`, and the hooks before and after it."""
        if not (
            self._compiled_call_impl
            or self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or ALL.forward
            or ALL.forward_pre
            or ALL.backward
            or ALL.backward_pre
        ):
            return self.forward(*args, **kwargs)
        return (self._compiled_call_impl or self._call_impl)(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`, and the hooks before and after it, as without `compile`."""
        return self._ow_call_with_hooks(args, kwargs)

    def _ow_call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        result: Any = None
        try:
            args, kwargs = self._ow_before(args, kwargs)
            full, old, pre = self._ow_backward_functions()
            backward = BackwardHooks(self, full, pre) if full or pre else None
            if backward is not None:
                args = backward.on_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, call in self._ow_after():
                called.add(number)
                other = call(args, kwargs, result)
                result = result if other is None else other
            if backward is not None:
                result = backward.on_outputs(result)
            if old:
                self._ow_on_last_node(old, args, result)
        except BaseException:
            for number, call in self._ow_after():
                if number not in called and (number in self._forward_hooks_always_called or number in ALL.always):
                    try:
                        other = call(args, kwargs, result)
                    except Exception as error:
                        warnings.warn(
                            "a forward hook with `always_call=True` raised an exception that was silenced, as another "
                            f"error was raised in forward: {error}",
                            stacklevel=3,
                        )
                        continue
                    result = result if other is None else other
            raise
        return result

    def _ow_before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for number, hook in (*ALL.forward_pre.items(), *self._forward_pre_hooks.items()):
            if number in self._forward_pre_hooks_with_kwargs:
                both = hook(self, args, kwargs)
                if both is not None:
                    if not (isinstance(both, tuple) and len(both) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {both}."
                        )
                    args, kwargs = both
            else:
                other = hook(self, args)
                if other is not None:
                    args = other if isinstance(other, tuple) else (other,)
        return args, kwargs

    def _ow_after(self) -> list[tuple[int, Callable[..., Any]]]:
        """The hooks after forward, as functions of arguments, keywords and output."""
        named = ALL.with_kwargs | self._forward_hooks_with_kwargs.keys()

        def bound(number: int, hook: Callable[..., Any]) -> Callable[..., Any]:
            if number in named:
                return lambda args, kwargs, output: hook(self, args, kwargs, output)
            return lambda args, kwargs, output: hook(self, args, output)

        hooks = (*ALL.forward.items(), *self._forward_hooks.items())
        return [(number, bound(number, hook)) for number, hook in hooks]

    def _ow_backward_functions(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Full hooks of the backward pass, those of the old kind, and those before it."""
        own, others = list(self._backward_hooks.values()), list(ALL.backward.values())
        full = [*(others if ALL.full is True else ()), *(own if self._is_full_backward_hook is True else ())]
        old = [*(others if ALL.full is False else ()), *(own if self._is_full_backward_hook is False else ())]
        return full, old, [*ALL.backward_pre.values(), *self._backward_pre_hooks.values()]

    def _ow_on_last_node(self, hooks: list[Any], args: tuple[Any, ...], result: Any) -> None:
        output = result
        while not isinstance(output, Tensor):
            output = next(iter(output.values())) if isinstance(output, dict) else output[0]
        node = output.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(lambda inputs, outputs, hook=hook: hook(self, inputs, outputs))


def _added(hooks: OrderedDict[int, Any], hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    handle = RemovableHandle(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
