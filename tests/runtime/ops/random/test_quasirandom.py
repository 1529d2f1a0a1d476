"""The ends of a Sobol sequence, where torch reads memory that is not its own."""

from __future__ import annotations

import copy
import pickle

import opweave as ow
import pytest
from opweave.quasirandom import SobolEngine


def test_end_of_the_sequence() -> None:
    engine = SobolEngine(2).fast_forward(2**30 - 1)
    assert engine.draw().shape == (1, 2)
    with pytest.raises(ValueError, match=r"has 2\*\*30 points"):
        engine.draw()
    with pytest.raises(ValueError, match="points"):
        SobolEngine(2).fast_forward(2**30 + 1)
    with pytest.raises(RuntimeError, match="expected a number of points"):
        engine.draw(-1)
    with pytest.raises(ValueError, match="expected a number of points"):
        engine.fast_forward(-1)


def test_each_dimension_is_even() -> None:
    """The first 2^k points of each dimension are the multiples of 2^-k."""
    points = SobolEngine(2000).draw_base2(3)
    assert ow.equal(points.sort(0)[0], (ow.arange(8) / 8).unsqueeze(1).expand(8, 2000))


def test_copies() -> None:
    engine = SobolEngine(3, scramble=True, seed=1)
    engine.draw(5)
    twins = copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))
    points = engine.draw(3)
    assert all(ow.equal(twin.draw(3), points) for twin in twins)
