"""Products of matrices and vectors: those of batches are products of more dimensions."""

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .call import Call
from .elementwise import refuse_smaller_target


def matmul(call: Call) -> Any:
    """Products of matrices, or of as many of one tensor as of the other."""
    return ops.matmul(*map(call.batch, call.args))


def mv(call: Call) -> Any:
    """Return the batch of products of a matrix and a vector."""
    matrix, vector = call.args
    return _times(call, matrix, vector)


def dot(call: Call) -> Any:
    """Return the batch of inner products of two vectors."""
    first, second = map(call.batch, call.args)
    return ops.matmul(first.unsqueeze(-2), second.unsqueeze(-1)).flatten(-3)


def addmm(call: Call) -> Any:
    """Return the batch of `addmm`."""
    addend, first, second, beta, alpha = call.args
    return _sum(call, addend, ops.matmul(call.batch(first), call.batch(second)), 2, beta, alpha)


def addmv(call: Call) -> Any:
    """Return the batch of `addmv`."""
    addend, matrix, vector, beta, alpha = call.args
    return _sum(call, addend, _times(call, matrix, vector), 1, beta, alpha)


def _times(call: Call, matrix: Any, vector: Any) -> Any:
    if not call.is_sample(matrix):
        return ops.matmul(call.batch(vector), matrix.t())
    return ops.matmul(call.batch(matrix), call.batch(vector).unsqueeze(-1)).squeeze(-1)


def _sum(call: Call, addend: Any, product: Any, ndim: int, beta: Any, alpha: Any) -> Any:
    """beta * addend + alpha * product, of which an addend times zero is not read; of integers the factors are, too."""
    if call.is_inplace:
        refuse_smaller_target(call)
    if not (product.is_floating_point() or product.is_complex()):
        beta, alpha = int(beta), int(alpha)
    if beta == 0:
        return call.stored(product * alpha)
    scaled = call.aligned(addend, ndim)
    return call.stored(ops.add(scaled if beta == 1 else scaled * beta, product, alpha=alpha))
