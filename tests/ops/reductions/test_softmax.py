"""`nn.functional.softmax` and its relatives, which may be called without a dimension."""

from __future__ import annotations

import opweave
import pytest

functional = opweave.nn.functional


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize(("shape", "dim"), [((), 0), ((3,), 0), ((3, 4), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)])
def test_without_dim(name: str, shape: tuple[int, ...], dim: int) -> None:
    x, function = opweave.rand(shape), getattr(functional, name)
    with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name} has been deprecated") as told:
        got = function(x)
    assert told[0].filename == __file__
    assert (got == function(x, dim)).all()


def test_of_integers() -> None:
    x = opweave.tensor([1, 2])
    assert functional.softmax(x, 0, dtype=opweave.float64).dtype is opweave.float64
    with pytest.raises(NotImplementedError, match="\"softmax\" not implemented for 'Long'"):
        functional.softmax(x, 0)
    with pytest.raises(TypeError):
        opweave.softmax(x.float())
