"""Queries about the tensors that transforms of functions see."""

from __future__ import annotations

from typing import Any

from ._base.pytree import flatten as tree_flatten
from ._base.tensor_class import Tensor
from ._batching.vmap import vmap
from ._dispatch.levels import level_of, levels
from ._dispatch.samples import BatchLevel, batch_of
from ._names.refusals import refused_function
from .utils._pytree import _broadcast_to_and_flatten, tree_unflatten

__all__ = ["Tensor", "_broadcast_to_and_flatten", "tree_flatten", "tree_unflatten", "vmap"]

_PARTS_OF_VMAP = (
    "_add_batch_dim", "_maybe_remove_batch_dim", "_process_batched_inputs", "_remove_batch_dim", "_unwrap_batched",
    "_validate_and_get_batch_size",
)  # fmt: skip
_NO_PARTS = "the parts of vmap are internal. Call vmap"
globals().update({name: refused_function(__name__, name, _NO_PARTS) for name in _PARTS_OF_VMAP})


def is_batchedtensor(tensor: Any) -> bool:
    """Return whether a tensor stands for a sample of a batch, within `vmap`."""
    return isinstance(level_of(tensor), BatchLevel)


is_functorch_wrapped_tensor = is_batchedtensor


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Return whether a tensor is one of a transform for gradients: False, as graphs are those of autograd."""
    return False


is_functionaltensor = is_legacy_batchedtensor = is_gradtrackingtensor


def get_unwrapped(tensor: Any) -> Any:
    """Return the batch that a tensor stands for a sample of."""
    return batch_of(tensor)


def maybe_get_bdim(tensor: Any) -> int:
    """Return the dimension of the batch that a tensor stands for a sample of, which is the first one; -1 of others."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Any) -> int:
    """Return the number of the call of `vmap` that a tensor belongs to, from 1 on; -1 of others."""
    level = level_of(tensor)
    return levels().index(level) + 1 if level in levels() else -1


def maybe_current_level() -> int | None:
    """Return the number of the call of `vmap` that is running; None: there is none."""
    return len(levels()) or None


def _get_name(func: Any) -> str:
    """Return the name of a function, or its text where it has none."""
    name: str = func.__name__ if hasattr(func, "__name__") else repr(func)
    return name
