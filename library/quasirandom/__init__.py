"""opweave.quasirandom: Sobol sequences, as in torch.quasirandom."""

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.generator import Generator
from .._base.interchange import from_numpy
from .direction_numbers import direction_numbers

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of a Sobol sequence, which fill the unit cube more evenly than random ones; those of torch.

    Args:
        dimension (int): of the points, from 1 to 21201.
        scramble (bool): whether the points are scrambled at random, which keeps their evenness.
        seed (int): of the random numbers of the scrambling; without it they are those of the default generator.

    Raises:
        ValueError: there is no such dimension.

    Source: I. M. Sobol, *USSR Comput. Math. Math. Phys.* 7 (1967); the order by Gray's code I. A. Antonov,
    V. M. Saleev, ibid. 19 (1979); direction numbers S. Joe, F. Y. Kuo, *SIAM J. Sci. Comput.* 30 (2008); scrambling
    J. Matousek, *J. Complexity* 14 (1998).
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = from_numpy(direction_numbers(dimension, self.MAXBIT))
        self.shift = ops.zeros(dimension, dtype=EXPORTS["int64"])
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """Return the next `n` points, of shape (n, dimension), in `out` where it is given.

        Raises RuntimeError for a negative `n`, NotImplementedError unless `dtype` is float32 or float64, and ValueError
        beyond 2^30 points, which are all there are.
        """
        dtype = get_default_dtype() if dtype is None else dtype
        if dtype not in (EXPORTS["float32"], EXPORTS["float64"]):
            raise NotImplementedError(f"\"_sobol_engine_draw\" not implemented for '{dtype.scalar_name}'")
        if n < 0:
            raise RuntimeError(f"SobolEngine.draw(): expected a number of points, but got {n}")
        points = self._points(self.num_generated, n)
        self._went(points, n)
        result = points.to(dtype) / 2**self.MAXBIT
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """Return the next `2**m` points. Raises ValueError unless the number of points drawn is then a power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points "
                f"have been previously generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do "
                "this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Go back to the first point; return the engine."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points; return the engine. Raises ValueError for less than 0 and beyond 2^30."""
        if n < 0:
            raise ValueError(f"SobolEngine.fast_forward(): expected a number of points, but got {n}")
        self._went(self._points(self.num_generated + n - 1, 1) if n else self.quasi.new_empty(0), n)
        return self

    def _points(self, first: int, count: int) -> Any:
        """The points from a place on, as integers: of each point the direction numbers of the bits in which Gray's code
        of its place has ones."""
        end = first + count
        if end > 1 << self.MAXBIT:
            raise ValueError(f"a Sobol sequence of {self.MAXBIT} bits has 2**{self.MAXBIT} points, but got {end}")
        places = ops.arange(first, end, dtype=EXPORTS["int64"]).unsqueeze(1)
        code = places ^ (places >> 1)
        points = self.shift.repeat(count, 1)
        for bit in range(max(end - 1, 0).bit_length()):
            points ^= self.sobolstate[:, bit] * (code >> bit & 1)
        return points

    def _went(self, points: Any, n: int) -> None:
        if n:
            self.quasi = points[-1].clone()
            self.num_generated += n

    def _scramble(self) -> None:
        """Multiply the bits of the direction numbers by random triangular matrices, and draw the shift."""
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        size, int64 = self.MAXBIT, EXPORTS["int64"]
        powers = 1 << ops.arange(size, dtype=int64)
        self.shift = (ops.randint(0, 2, (self.dimension, size), generator=generator) * powers).sum(1)
        matrices = ops.randint(0, 2, (self.dimension, size, size), generator=generator).tril()
        matrices.diagonal(0, 1, 2).fill_(1)
        powers = powers.flip(0)
        # The bits that a row of a matrix chooses, from the highest one on; their sum is odd or even.
        rows = (matrices * powers).sum(2).unsqueeze(1)
        chosen = rows & self.sobolstate.unsqueeze(2)
        for shift in (16, 8, 4, 2, 1):
            chosen ^= chosen >> shift
        self.sobolstate = ((chosen & 1) * powers).sum(2)

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}"]
        if self.scramble:
            facts.append("scramble=True")
        if self.seed is not None:
            facts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(facts)})"
