"""Products of a sparse matrix and a dense one as sparse tensors: of all elements in the rows that have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.dtypes import EXPORTS
from ..._base.tensor_class import Tensor
from ..._base.type_names import type_name
from ..._base.types import sparse_coo, strided
from ..._dispatch.ops import ops
from .convert import coalesced
from .payload import Coordinates
from .tensor import made

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor as TensorType

__all__ = ["hspmm", "smm", "sspaddmm"]
_PACKAGE_NAMES = __all__


def hspmm(mat1: TensorType, mat2: TensorType) -> TensorType:
    """Return the product of a sparse matrix and a dense one, whose rows are its sparse dimension.

    Args:
        mat1: of layout `sparse_coo`, shape (n, k).
        mat2: dense, shape (k, m).

    Returns:
        A hybrid tensor of layout `sparse_coo`, shape (n, m), of the rows in which `mat1` has elements.

    Raises:
        RuntimeError: layouts, sizes or dtypes do not fit.
    """
    rows, values, size = _rows("hspmm", mat1, mat2)
    result: TensorType = made(Coordinates(rows.unsqueeze(0), values, size, True))
    return result


def smm(input: TensorType, mat2: TensorType) -> TensorType:
    """Return the product of a sparse matrix and a dense one, with all elements in the rows that have one.

    Args:
        input: of layout `sparse_coo`, shape (n, k).
        mat2: dense, shape (k, m).

    Returns:
        A tensor of layout `sparse_coo`, shape (n, m).

    Raises:
        RuntimeError: layouts, sizes or dtypes do not fit.
    """
    result: TensorType = made(_elements("smm", input, mat2))
    return result


def sspaddmm(
    input: TensorType, mat1: TensorType, mat2: TensorType, *, beta: complex = 1, alpha: complex = 1
) -> TensorType:
    """Return beta * input + alpha * (mat1 @ mat2), of sparse matrices `input` and `mat1`, as `smm` gives the product.

    Args:
        input: of layout `sparse_coo`, shape (n, m).
        mat1: of layout `sparse_coo`, shape (n, k).
        mat2: dense, shape (k, m).
        beta, alpha (numbers): factors of `input` and of the product.

    Returns:
        A tensor of layout `sparse_coo`, shape (n, m), which is not coalesced.

    Raises:
        RuntimeError: layouts, sizes or dtypes do not fit.
    """
    own: Coordinates = _check("sspaddmm", "input", input, sparse_coo)._sparse
    found = _elements("sspaddmm", mat1, mat2)
    if tuple(input.shape) != found.size or input.dtype is not mat1.dtype:
        raise RuntimeError(
            f"sspaddmm(): expected an input of shape {list(found.size)} and dtype {mat1.dtype}, but got "
            f"{list(input.shape)} and {input.dtype}"
        )
    indices = ops.cat([own.indices, found.indices], 1)
    values = ops.cat([own.values * beta, found.values * alpha])
    result: TensorType = made(Coordinates(indices, values, found.size))
    return result


def _check(function: str, name: str, value: Any, layout: Any) -> Any:
    """The argument, if it is a matrix of this layout."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{name}' must be Tensor, not {type_name(value)}")
    if value.layout is not layout or value.ndim != 2 or (layout is sparse_coo and value._sparse.dense_dim):
        raise RuntimeError(
            f"{function}(): expected '{name}' to be a matrix of layout {layout}, but got a tensor of layout "
            f"{value.layout} and shape {list(value.shape)}"
        )
    return value


def _rows(function: str, left: Any, right: Any) -> tuple[Any, Any, tuple[int, int]]:
    """Return the rows in which the left matrix has elements, these rows of the product, and its shape."""
    _check(function, "mat1", left, sparse_coo)
    _check(function, "mat2", right, strided)
    if left.size(1) != right.size(0):
        raise RuntimeError(f"{function}: Argument #3: Expected dim 0 size {left.size(1)}, got {right.size(0)}")
    rows = coalesced(left._sparse).indices[0].unique_consecutive()
    return rows, ops.mm(left, right).index_select(0, rows), (left.size(0), right.size(1))


def _elements(function: str, left: Any, right: Any) -> Coordinates:
    rows, values, size = _rows(function, left, right)
    columns = ops.arange(size[1], dtype=EXPORTS["int64"]).repeat(rows.numel())
    return Coordinates(ops.stack([rows.repeat_interleave(size[1]), columns]), values.flatten(), size, True)
