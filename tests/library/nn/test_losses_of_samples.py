"""Losses are operators made of others, which the rules of samples and of tangents and modes see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from opweave.func import grad, jvp, vmap
from opweave.nn import functional as F  # noqa: N812
from opweave.overrides import TorchFunctionMode

Loss = Callable[[Any, Any], Any]

SIGNS = opweave.tensor([1.0, -1.0, 1.0, -1.0])
LABELS = opweave.tensor([[0, -1, 2], [1, 2, -1], [2, -1, 0], [0, 1, 2]])

LOSSES: dict[str, Loss] = {
    "kl_div": lambda x, y: F.kl_div(x, y.softmax(-1), reduction="batchmean"),
    "poisson_nll_loss": lambda x, y: F.poisson_nll_loss(x, y.exp(), full=True),
    "gaussian_nll_loss": lambda x, y: F.gaussian_nll_loss(x, y, opweave.ones(4)),
    "hinge_embedding_loss": lambda x, y: F.hinge_embedding_loss(x + y, SIGNS.unsqueeze(1)),
    "soft_margin_loss": lambda x, y: F.soft_margin_loss(x, y),
    "margin_ranking_loss": lambda x, y: F.margin_ranking_loss(x, y, SIGNS.unsqueeze(1)),
    "cosine_embedding_loss": lambda x, y: F.cosine_embedding_loss(x, y, SIGNS),
    "triplet_margin_loss": lambda x, y: F.triplet_margin_loss(x, y, y.cos(), swap=True),
    "multi_margin_loss": lambda x, y: F.multi_margin_loss(x * y, opweave.tensor([0, 2, 1, 1]), p=2),
    "multilabel_margin_loss": lambda x, y: F.multilabel_margin_loss(x * y, LABELS),
    "multilabel_soft_margin_loss": lambda x, y: F.multilabel_soft_margin_loss(x, y.sigmoid()),
    "ctc_loss": lambda x, y: F.ctc_loss((x * y).log_softmax(-1), opweave.tensor([1, 2]), [4], [2]),
}
losses = pytest.mark.parametrize("name", LOSSES)


def values(count: int) -> tuple[Any, Any]:
    opweave.manual_seed(0)
    x, y = opweave.randn(2, count, 4, 3, dtype=opweave.float64).unbind()
    return x, y


@losses
def test_samples(name: str) -> None:
    loss, (x, y) = LOSSES[name], values(5)
    opweave.testing.assert_close(vmap(loss)(x, y), opweave.stack([loss(*each) for each in zip(x, y, strict=True)]))
    slopes = opweave.stack([grad(loss)(*each) for each in zip(x, y, strict=True)])
    opweave.testing.assert_close(vmap(grad(loss))(x, y), slopes)


@losses
def test_tangents(name: str) -> None:
    loss, (x, y) = LOSSES[name], (each[0] for each in values(1))
    _, change = jvp(lambda each: loss(each, y), (x,), (y,))
    opweave.testing.assert_close(change, (grad(loss)(x, y) * y).sum())


class Names(TorchFunctionMode):
    """The names of the functions that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


@losses
def test_modes_see_them(name: str) -> None:
    x, y = (each[0].float() for each in values(1))
    with Names() as names:
        LOSSES[name](x, y)
    assert name in names.seen
