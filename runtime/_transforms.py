"""What programs ask about the tensors that transforms of functions see: here those are tensors like any other."""

from __future__ import annotations

from typing import Any

from ._base.pytree import flatten as tree_flatten
from ._base.refusals import refused_function
from ._base.tensor_class import Tensor
from .utils._pytree import _broadcast_to_and_flatten, tree_unflatten

__all__ = ["Tensor", "_broadcast_to_and_flatten", "tree_flatten", "tree_unflatten", "vmap"]

_NO_VMAP = "functions are not batched by a transform. Write the batch as a dimension of the tensors"
_BATCHING = (
    "_add_batch_dim", "_maybe_remove_batch_dim", "_process_batched_inputs", "_remove_batch_dim", "_unwrap_batched",
    "_validate_and_get_batch_size", "get_unwrapped",
)  # fmt: skip

vmap = refused_function("opweave.func", "vmap", _NO_VMAP)
globals().update({name: refused_function(__name__, name, _NO_VMAP) for name in _BATCHING})


def is_batchedtensor(tensor: Any) -> bool:
    """Return whether a tensor hides a dimension that a function is batched over: False."""
    return False


is_gradtrackingtensor = is_functorch_wrapped_tensor = is_functionaltensor = is_legacy_batchedtensor = is_batchedtensor


def maybe_get_level(tensor: Any) -> int:
    """Return the number of the transform that a tensor belongs to: -1, none."""
    return -1


maybe_get_bdim = maybe_get_level


def maybe_current_level() -> None:
    """Return the number of the transform that is running: None."""


def _get_name(func: Any) -> str:
    """Return the name of a function, or its text where it has none."""
    name: str = func.__name__ if hasattr(func, "__name__") else repr(func)
    return name
