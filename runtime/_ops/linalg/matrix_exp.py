"""The matrix exponential, for the composite `linalg.matrix_exp`: Taylor polynomials, arranged so that few products are
needed. A large matrix is halved first and the result squared. The thresholds and the polynomial of degree 18 are those
of P. Bader, S. Blanes and F. Casas, "Computing the matrix exponential with an optimized Taylor polynomial
approximation", Mathematics 7 (2019).
"""

from __future__ import annotations

import math
from typing import Any

from ..._base.finfo import finfo
from ..numpy_bridge import dtypes
from ..values import has_values

__all__ = ["matrix_exponential"]

_DEGREES = (1, 2, 4, 18)
_LARGEST = {
    4: (1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02, 3.010066362817634),
    8: (2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04, 1.090863719290036),
}
"""The norms up to which the polynomial of each degree is exact to rounding, by the size of a real number in bytes."""

# Coefficients of A, A², A³ and A⁶ in five factors; the first numbers are those of the identity.
_FACTORS = (
    (0.0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0.0),
    (0.0, 3.97849749499645077844e-01, 1.36783778460411720168, 4.98289622525382669416e-01, -6.37898194594723280150e-04),
    (-10.9676396052962061844, 1.68015813878906206114, 5.71779846478865511061e-02, -6.98210122488052056106e-03,
     3.34975017086070470649e-05),
    (-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02, 2.95552570429315521194e-02,
     -1.39180257516060693404e-05),
    (0.0, 0.0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05),
)  # fmt: skip


def matrix_exponential(A: Any) -> Any:
    """Return the exponential of square matrices (*, n, n)."""
    n = A.size(-1)
    if n <= 1 or not A.numel():
        return A.exp()
    matrices = A.reshape((-1, n, n)).contiguous()
    norms = matrices.abs().sum(-2).amax(-1).tolist() if has_values(A) else [0.0]
    bounds = _LARGEST[4 if finfo(A.dtype).bits <= 32 else 8]
    largest = max(norm if math.isfinite(norm) else math.inf for norm in norms)
    degree = next((degree for degree, bound in zip(_DEGREES, bounds, strict=True) if largest <= bound), _DEGREES[-1])
    halvings = [_halvings(norm, bounds[-1]) for norm in norms]
    if any(halvings):
        factors = matrices.new_tensor([0.5**count for count in halvings])
        matrices = matrices * factors.unsqueeze(-1).unsqueeze(-1)
    result = _polynomial(matrices, degree)
    for done in range(max(halvings)):
        rest = [index for index, count in enumerate(halvings) if count > done]
        if len(rest) == len(halvings):
            result = result.bmm(result)
        else:
            indices = matrices.new_tensor(rest, dtype=dtypes.int64)
            part = result.index_select(0, indices)
            result.index_copy_(0, indices, part.bmm(part))
    return result.reshape(A.shape)


def _halvings(norm: float, bound: float) -> int:
    """Return how often a matrix of this norm must be halved; none for NaN and infinity, which spread in any case."""
    return max(math.ceil(math.log2(norm / bound)), 0) if 0 < norm < math.inf else 0


def _polynomial(A: Any, degree: int) -> Any:
    if degree == 1:
        return _plus_identity(A.clone(), 1)
    square = A.bmm(A)
    if degree == 2:
        return _plus_identity(A + square / 2, 1)
    if degree == 4:
        return _plus_identity(A + square.bmm(_plus_identity(A / 6 + square / 24, 0.5)), 1)
    cube = A.bmm(square)
    powers = (A, square, cube, cube.bmm(cube))
    first, second, third, fourth, fifth = (_combination(powers, factors) for factors in _FACTORS)
    ninth = first.bmm(fifth).add_(fourth)
    return second.add_(third.add_(ninth).bmm(ninth))


def _combination(powers: tuple[Any, ...], factors: tuple[float, ...]) -> Any:
    identity, first, *others = factors
    total = powers[0] * first
    for power, factor in zip(powers[1:], others, strict=True):
        if factor:
            total.add_(power, alpha=factor)
    return _plus_identity(total, identity)


def _plus_identity(tensor: Any, factor: float) -> Any:
    """Add `factor` to the diagonal in place."""
    if factor:
        tensor.diagonal(0, -2, -1).add_(factor)
    return tensor
