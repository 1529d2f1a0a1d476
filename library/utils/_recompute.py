"""Calls of functions that are made once more in backward, for the tensors that their gradients need."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .._autograd import engine
from .._autograd.backward_api import backward
from .._autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from .._base.dtypes import get_default_dtype
from .._tensor.tensor import Tensor
from ..amp.autocast_mode import autocast
from ..amp.autocast_state import get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..random import fork_rng, get_rng_state, set_rng_state

__all__ = ["CheckpointError", "Recomputation", "ReentrantCheckpoint"]


class CheckpointError(RuntimeError):
    """Raised where a function saves other tensors for backward when it is called again."""


class _Settings:
    """The settings of a thread at the first call of a function, which are restored for the others."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self._random_state = get_rng_state() if preserve_rng_state else None
        self._autocast: dict[str, Any] = {
            "enabled": is_autocast_enabled("cpu"),
            "dtype": get_autocast_dtype("cpu"),
            "cache_enabled": is_autocast_cache_enabled(),
        }

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Context for another call, which is recorded."""
        with fork_rng(enabled=self._random_state is not None), autocast("cpu", **self._autocast), enable_grad():
            if self._random_state is not None:
                set_rng_state(self._random_state)
            yield


class ReentrantCheckpoint(Function):
    """A function as one node, whose backward calls the function again and runs backward through that."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Return the function's results without recording it, and save its arguments."""
        if not any(isinstance(value, Tensor) and value.requires_grad for value in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)
        ctx.run_function = function
        ctx.settings = _Settings(preserve_rng_state)
        ctx.other_arguments = [None if isinstance(value, Tensor) else value for value in args]
        ctx.tensor_indices = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(args[index] for index in ctx.tensor_indices))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients by the function's arguments, from a second call that is recorded. Raises RuntimeError
        within `grad()` or `backward(inputs=...)`, and if no result requires a gradient."""
        if engine.is_confined():
            raise RuntimeError(
                "When use_reentrant=True, opweave.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.other_arguments)
        for index, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[index] = tensor.detach().requires_grad_(tensor.requires_grad)
        with ctx.settings.restored():
            outputs = ctx.run_function(*inputs)
        results = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [
            (result, grad)
            for result, grad in zip(results, grads, strict=True)
            if isinstance(result, Tensor) and result.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([result for result, _ in pairs], [grad for _, grad in pairs])
        return None, None, *(value.grad if isinstance(value, Tensor) else None for value in inputs)


class _Kept(Function):
    """Saves tensors as for a backward that never runs, so that they are checked for changes, and recomputed themselves.

    Within the call of another checkpoint its placeholders are saved instead of them.
    """

    @staticmethod
    def forward(ctx: Any, carrier: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return carrier.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("nothing depends on the carrier")


class _Enough(BaseException):
    """Ends a call that has computed everything that is needed; no `except Exception` of the function may stop it."""


class _Placeholder:
    """Saved instead of a tensor; it holds the tensor from the second call until it is asked for."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self) -> None:
        self.tensor: Tensor | None = None


class Recomputation:
    """A call of a function that saves placeholders, and the calls that fill them.

    The graph owns the placeholders; what is left in them after a backward pass goes with it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        preserve_rng_state: bool,
        context: AbstractContextManager[Any],
        checks: bool,
        early_stop: bool,
    ) -> None:
        self._function, self._args, self._kwargs = function, args, kwargs
        self._settings = _Settings(preserve_rng_state)
        self._context, self._checks, self._early_stop = context, checks, early_stop
        self._placeholders: list[weakref.ref[_Placeholder]] = []
        self._descriptions: list[dict[str, Any]] = []
        self._finished = False

    def run(self, context: AbstractContextManager[Any]) -> Any:
        """The first call."""
        if not is_grad_enabled():
            return self._function(*self._args, **self._kwargs)
        args, self._args = self._args, ()
        self._keep(args)
        result = None
        with saved_tensors_hooks(self._pack, self._unpack), context:
            result = self._function(*args, **self._kwargs)
            self._finished = True
        if not self._finished:
            raise RuntimeError(
                "opweave.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
                "during the checkpointed forward. This is not supported because checkpoint cannot return a value for a "
                "failed forward."
            )
        return result

    def _keep(self, args: tuple[Any, ...]) -> None:
        self._others = [None if isinstance(value, Tensor) else value for value in args]
        self._indices = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
        if self._indices:
            tensors = [args[index] for index in self._indices]
            carrier = tensors[0].new_empty((0,), dtype=get_default_dtype()).requires_grad_()
            self._kept: Any = _Kept.apply(carrier, *tensors).grad_fn

    def _arguments(self) -> list[Any]:
        args = list(self._others)
        if self._indices:
            for index, tensor in zip(self._indices, self._kept.saved_tensors, strict=True):
                args[index] = tensor
        return args

    def _pack(self, tensor: Tensor) -> _Placeholder:
        placeholder = _Placeholder()
        self._placeholders.append(weakref.ref(placeholder))
        self._descriptions.append(_description(tensor))
        return placeholder

    def _unpack(self, placeholder: _Placeholder) -> Tensor | None:
        if placeholder.tensor is None:
            self._fill()
        tensor, placeholder.tensor = placeholder.tensor, None
        return tensor

    def _fill(self) -> None:
        """Calls the function again and puts what it saves into the placeholders."""
        descriptions: list[dict[str, Any]] = []
        expected = len(self._placeholders)

        def pack(tensor: Tensor) -> Tensor:
            tensor = tensor.detach()
            if len(descriptions) == expected:
                if self._finished:
                    raise CheckpointError(
                        "opweave.utils.checkpoint: trying to save more tensors during recomputation than during the "
                        "original forward pass."
                    )
                return tensor  # backward within the first call, which has not saved these yet
            placeholder = self._placeholders[len(descriptions)]()
            if placeholder is not None:
                placeholder.tensor = tensor
            descriptions.append(_description(tensor))
            if self._early_stop and len(descriptions) == expected:
                raise _Enough
            return tensor

        args = self._arguments()
        try:
            with self._settings.restored(), self._context, saved_tensors_hooks(pack, lambda tensor: tensor):
                self._function(*args, **self._kwargs)
        except _Enough:
            pass
        self._check(descriptions)

    def _check(self, descriptions: list[dict[str, Any]]) -> None:
        if len(descriptions) != len(self._placeholders):
            raise CheckpointError(
                "opweave.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self._placeholders)}\n"
                f"Number of tensors saved during recomputation: {len(descriptions)}."
            )
        different = [
            f"tensor at position {index}:\nsaved metadata: {before}\nrecomputed metadata: {after}\n"
            for index, (before, after) in enumerate(zip(self._descriptions, descriptions, strict=True))
            if self._checks and before != after
        ]
        if different:
            raise CheckpointError(
                "opweave.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                "during the forward pass.\n" + "".join(different)
            )


def _description(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}
