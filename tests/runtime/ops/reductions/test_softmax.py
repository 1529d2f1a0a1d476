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


class Own(opweave.Tensor):
    pass


X = opweave.ones(3)


@pytest.mark.parametrize("x", [X, opweave.ones(3, requires_grad=True), X.as_subclass(Own)])
def test_the_warning_points_to_the_caller_by_every_way_of_a_call(x: opweave.Tensor) -> None:
    def called(**given: int) -> None:
        functional.softmax(x, **given)

    def warned_at(**given: int) -> int:
        with pytest.warns(UserWarning, match="Implicit dimension choice") as told:
            called(**given)
        assert told[0].filename == __file__
        return told[0].lineno

    line = called.__code__.co_firstlineno + 1
    assert warned_at() == line
    assert warned_at(_stacklevel=4) == line + 4  # the caller's caller


def test_of_integers() -> None:
    x = opweave.tensor([1, 2])
    assert functional.softmax(x, 0, dtype=opweave.float64).dtype is opweave.float64
    with pytest.raises(NotImplementedError, match="\"softmax\" not implemented for 'Long'"):
        functional.softmax(x, 0)
    with pytest.raises(TypeError):
        opweave.softmax(x.float())
