"""Random numbers that expressions of elements use: `self + randn()`."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import get_default_dtype
from .._base.shapes import broadcast_shapes
from .._dispatch.ops import ops
from .stages import in_dtype_of_computation

__all__ = ["random_numbers"]


def random_numbers(kind: str, generator: Any, tensors: tuple[Any, ...], numbers: tuple[Any, ...]) -> Any:
    """Draw a number for each element of a result.

    Parameters
    ----------
    kind : {'rand', 'randn'}
        The function that draws them.
    generator : Generator or None
        None: the default one.
    tensors : tuple of Tensor
        The operands, to whose shape the numbers broadcast.
    numbers : tuple of Tensor
        Those that promote to the dtype of the result, a real one; for integers it is the default dtype.

    Raises
    ------
    RuntimeError
        The shapes do not fit together.
    """
    dtype = in_dtype_of_computation(True, *numbers)[0] if numbers else get_default_dtype()
    shape = broadcast_shapes(*(each.shape for each in tensors))
    real = dtype.to_real() if dtype.is_complex else dtype
    return getattr(ops, kind)(list(shape), dtype=real, device=tensors[0].device, generator=generator)
