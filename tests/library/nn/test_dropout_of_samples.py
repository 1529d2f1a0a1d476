"""Dropout is made of operators, which rules of samples see; forms in place are functions and no methods."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from opweave.func import vmap
from opweave.nn import functional as F  # noqa: N812

DROPS = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "dropout in place": lambda x: F.dropout(x.clone(), 0.5, inplace=True),
    "dropout_": lambda x: opweave.dropout_(x.clone(), 0.5, True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "dropout1d": lambda x: F.dropout1d(x, 0.5),
    "dropout2d": lambda x: F.dropout2d(x.view(1, 8, 2, 4), 0.5),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, hard=True),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", DROPS)
def test_samples(name: str) -> None:
    """Each has numbers of its own, or all have the same, without a call for each."""
    drop: Any = DROPS[name]
    x = opweave.ones(2, 8, 8)
    opweave.manual_seed(0)
    apart, same = (vmap(drop, randomness=randomness)(x) for randomness in ("different", "same"))
    assert not opweave.equal(apart[0], apart[1])
    assert opweave.equal(same[0], same[1])
    with pytest.raises(RuntimeError, match="random operation"):
        vmap(drop)(x)


def test_forms_in_place() -> None:
    x = opweave.ones(4, 2)
    for drop in (opweave.dropout_, opweave.alpha_dropout_, opweave.feature_dropout_, opweave.feature_alpha_dropout_):
        assert drop(x, 0.5, True) is x
        assert not hasattr(opweave.Tensor, drop.__name__)
    assert opweave.ops.aten.dropout_.default.name() == "aten::dropout_"


def test_nothing_is_overwritten_without_training() -> None:
    leaf = opweave.ones(3, requires_grad=True)
    assert F.dropout(leaf, 0.5, training=False, inplace=True) is leaf
    with pytest.raises(RuntimeError, match="leaf Variable"):
        F.dropout(leaf, 0.5, inplace=True)
