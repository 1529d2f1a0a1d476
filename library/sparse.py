"""opweave.sparse: functions of sparse tensors, as torch has them in torch.sparse.

A sparse tensor has only some of its elements in memory; all others are zeros, or for `softmax` and gradients not there.
"""

from __future__ import annotations

from functools import wraps
from types import TracebackType
from typing import Any

from ._base.dtypes import EXPORTS
from ._base.handles import integers
from ._base.type_names import type_name
from ._base.types import layout as layout_class
from ._base.types import sparse_coo
from ._dispatch.ops import ops
from ._representations.sparse import invariants
from ._representations.sparse import softmax as _softmax
from ._representations.sparse.convert import compressed
from ._representations.sparse.payload import COMPRESSED, Coordinates
from ._representations.sparse.products import reduced_product, sampled_sum
from ._representations.sparse.tensor import is_sparse, made
from ._tensor.sparse_typed_tensors import SPARSE_TENSOR_TYPES
from ._tensor.tensor import Tensor

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]

globals().update(SPARSE_TENSOR_TYPES)  # not in __all__, as in torch


def _check_sparse(function: str, name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{name}' must be Tensor, not {type_name(value)}")
    if not is_sparse(value):
        raise RuntimeError(f"{function}(): argument '{name}' must be a sparse tensor, but it is dense; use to_sparse()")


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """Return the product of a sparse matrix and a dense or sparse one; of two sparse matrices it is sparse.

    Args:
        mat1, mat2 (Tensor): the matrices.
        reduce (str): how the terms of an element are put together, where the second matrix is dense: `"sum"`, `"mean"`,
            `"amax"` or `"amin"`. Rows without elements give zeros.
    """
    if reduce == "sum":
        return ops.mm(mat1, mat2)  # type: ignore[no-any-return]
    return reduced_product(mat1, mat2, reduce)  # type: ignore[no-any-return]


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Return beta * mat + alpha * (mat1 @ mat2), of a sparse matrix `mat1`."""
    return ops.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2) at the places of the sparse tensor `input`, of dense matrices."""
    _check_sparse("sampled_addmm", "input", input)
    for name, each in (("mat1", mat1), ("mat2", mat2)):
        if is_sparse(each):
            raise RuntimeError(f"sampled_addmm(): argument '{name}' must be dense, but it is sparse; use to_dense()")
    return sampled_sum(input, mat1, mat2, beta, alpha)  # type: ignore[no-any-return]


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """Return the sum of all elements, or along dimensions: a sparse tensor where a sparse dimension is left."""
    _check_sparse("sparse.sum", "input", input)
    return ops.sum(input, dim, dtype=dtype)  # type: ignore[no-any-return]


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the softmax along a dimension of the elements in memory: the others count as minus infinity."""
    _check_sparse("sparse.softmax", "input", input)
    return _softmax.softmax(input, dim, dtype, False)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the logarithm of `softmax`."""
    _check_sparse("sparse.log_softmax", "input", input)
    return _softmax.softmax(input, dim, dtype, True)  # type: ignore[no-any-return]


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: layout_class | None = None) -> Tensor:
    """Return a matrix with these diagonals: element j of row i of `diagonals` stands in column j, `offsets[i]` to the
    right of the main diagonal.

    Args:
        diagonals (Tensor): a row for each diagonal.
        offsets (Tensor): of int64, all different.
        shape (tuple of ints): two sizes.
        layout (layout): `sparse_coo`, `sparse_csr` or `sparse_csc`; None: the first.
    """
    size = integers("spdiags", "shape", (shape,), 3)
    if len(size) != 2:
        raise RuntimeError(f"Output shape must be 2d, but got {list(size)}")
    rows = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    steps = offsets.reshape(-1)
    if offsets.dtype is not EXPORTS["int64"]:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype.scalar_name}")
    if rows.ndim != 2 or rows.size(0) != steps.size(0):
        raise RuntimeError(
            f"Number of diagonals ({rows.size(0)}) does not match the number of offsets ({steps.size(0)})"
        )
    if steps.unique().numel() != steps.numel():
        raise RuntimeError(f"Offset tensor contains duplicate values: {steps.tolist()}")
    columns = ops.arange(min(rows.size(1), size[1]), dtype=EXPORTS["int64"])
    lines = columns - steps.unsqueeze(1)
    inside = (lines >= 0) & (lines < size[0])
    at = ops.stack([lines[inside], columns.expand(lines.shape)[inside]])
    found = Coordinates(at, rows[:, : columns.size(0)][inside], (size[0], size[1]), False)
    if layout in COMPRESSED[:2]:
        return made(compressed(found, layout))  # type: ignore[no-any-return]
    if layout is not None and layout is not sparse_coo:
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}")
    return made(found)  # type: ignore[no-any-return]


class check_sparse_tensor_invariants:  # noqa: N801 (PyTorch's name)
    """Whether constructors of sparse tensors check what they are given: as a context, a decorator, or for all.

    They do by default, as indices that are outside are errors of the program. torch checks where it is told to.
    """

    def __init__(self, enable: bool = True) -> None:
        self._wanted = enable
        self._before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Return whether constructors check."""
        return invariants.is_enabled()

    @staticmethod
    def enable() -> None:
        """Make constructors check the invariants from now on."""
        invariants.set_enabled(True)

    @staticmethod
    def disable() -> None:
        """Make constructors check the invariants only where they are told to. Operators check the indices that they
        use."""
        invariants.set_enabled(False)

    def __enter__(self) -> None:
        if self._before is not None:
            raise RuntimeError("This context manager is already activated. Use a different context manager instance.")
        self._before = invariants.is_enabled()
        invariants.set_enabled(self._wanted)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._before is not None
        invariants.set_enabled(self._before)
        self._before = None

    def __call__(self, function: Any) -> Any:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._wanted):
                return function(*args, **kwargs)

        return called
