"""opweave.nn.utils.parametrizations: weights as a length and a direction, of norm one, and orthogonal."""

from __future__ import annotations

from typing import Any

from ... import _operators as ops
from ... import linalg
from ..._autograd.grad_mode import no_grad
from ..functional import normalize
from ..modules.module import Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(v: Any, dim: int | None) -> Any:
    """Return the norms over all dimensions but one; over all of None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    others = [each for each in range(v.dim()) if each != dim % v.dim()]
    return v.square().sum(others, keepdim=True).sqrt() if others else v.abs()


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> Any:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Compute a weight from its length and its direction (Salimans and Kingma, 2016).

    Args:
        module (Module): the module.
        name (str): the name of the weight.
        dim (int): the dimension of which each position has a length of its own; None: there is one length.

    Returns:
        The module.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    """Division by the largest singular value, which is approached by iterations on vectors that are kept."""

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim if dim >= 0 else dim + ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._matrix(weight)
                rows, columns = matrix.size()
                for vector, size in (("_u", rows), ("_v", columns)):
                    drawn = matrix.new_empty(size).normal_(0, 1)
                    self.register_buffer(vector, normalize(drawn, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(each for each in range(weight.dim()) if each != self.dim))
        return weight.flatten(1)

    def _iterate(self, matrix: Any, times: int) -> None:
        with no_grad():
            for _ in range(times):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        sigma = self._u.clone().dot(matrix.mv(self._v.clone()))
        return weight / sigma

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by its largest singular value (Miyato and others, 2018).

    Args:
        module (Module): the module.
        name (str): the name of the weight.
        n_power_iterations (int): by how many steps the value is approached in each call, in training.
        eps (float): the least norm that is divided by.
        dim (int): the dimension of rows; None: 1 of transposed convolutions, else 0.

    Returns:
        The module.

    Raises:
        ValueError: there is no such weight, or the number of steps is not positive.
    """
    weight = getattr(module, name, None)
    if weight is None or not hasattr(weight, "backward"):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if "ConvTranspose" in type(module).__name__ else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


class _Orthogonal(Module):
    """An orthogonal matrix: the exponential of a skew one, its Cayley map, or a product of reflections."""

    def __init__(self, weight: Any, map_: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and map_ == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.map, self.shape = map_, weight.shape
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        rows, columns = x.size(-2), x.size(-1)
        wide = rows < columns
        if wide:
            x = x.mT
            rows, columns = columns, rows
        if self.map in ("matrix_exp", "cayley"):
            lower = x.tril()
            if rows != columns:
                padding = x.new_zeros((*x.shape[:-2], rows, rows - columns))
                lower = ops.cat([lower, padding], -1)
            skew = lower - lower.mH
            if self.map == "matrix_exp":
                q = linalg.matrix_exp(skew)
            else:
                unit = ops.eye(rows, dtype=skew.dtype)
                q = linalg.solve(unit - skew / 2, unit + skew / 2)
            if rows != columns:
                q = q[..., :columns]
        else:
            lower = x.tril(-1)
            tau = 2.0 / (1.0 + (lower * lower).sum(-2))
            q = linalg.householder_product(lower + ops.eye(rows, columns, dtype=x.dtype), tau)
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        if hasattr(self, "base") and self.base is not None:
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, given: Any) -> Any:
        if given.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {given.shape}."
            )
        q = given
        rows, columns = q.size(-2), q.size(-1)
        wide = rows < columns
        if wide:
            q, rows, columns = q.mT, columns, rows
        if not hasattr(self, "base"):
            if self.map in ("cayley", "matrix_exp"):
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            factors, tau = ops.geqrf(q)
            factors.diagonal(dim1=-2, dim2=-1).sign_()
            factors.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
            return factors.mT if wide else factors
        # The base takes the place of what the map gives for the identity.
        if rows != columns:
            q = ops.cat([q, ops.randn(*q.shape[:-2], rows, rows - columns, dtype=q.dtype)], -1)
        base, r = linalg.qr(q)
        base = base * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
        self.base = base
        begin = ops.zeros_like(given)
        begin.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return begin


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a matrix orthogonal.

    Args:
        module (Module): the module.
        name (str): the name of the matrix.
        orthogonal_map (str): `matrix_exp`, `cayley` or `householder`; None: the first of square matrices and complex
            ones, and the last of others.
        use_trivialization (bool): whether the map is multiplied by a matrix, so that the first value can be kept.

    Returns:
        The module.

    Raises:
        ValueError: there is no such matrix, or the map is not known.
    """
    weight = getattr(module, name, None)
    if weight is None or not hasattr(weight, "backward"):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module
