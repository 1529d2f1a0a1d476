"""Distributions of counts whose probabilities round to 0 or 1, by hand."""

from __future__ import annotations

import math
from typing import Any

import opweave as ow
import pytest
from opweave.distributions import Geometric


def _by(function: Any, parameter: float, dtype: Any) -> tuple[float, float]:
    """A value and its derivative."""
    x = ow.tensor(parameter, dtype=dtype, requires_grad=True)
    value = function(x)
    return value.item(), ow.autograd.grad(value, x)[0].item()


def test_geometric_distributions_of_logits() -> None:
    """The logarithms of the probabilities of success and failure are -log(1 + exp(-l)) and -log(1 + exp(l))."""
    for dtype in (ow.float32, ow.float64):
        for logit in (-600.0, -40.0, -2.0, 0.0, 3.0, 50.0, 600.0):
            success = logit if logit < -50 else -math.log1p(math.exp(-logit))
            failure = -logit if logit > 50 else -math.log1p(math.exp(logit))
            rate = 1 / (1 + math.exp(-logit))
            for count in (0.0, 1.0, 3.0):
                found = _by(lambda x, count=count: Geometric(logits=x).log_prob(ow.tensor(count)), logit, dtype)
                want = success + count * failure, 1 - rate - count * rate
                assert found == pytest.approx(want, rel=1e-5, abs=1e-9), (logit, count)
            odds_times_failure = -1.0 if logit < -30 else math.exp(-logit) * failure
            entropy, slope = _by(lambda x: Geometric(logits=x).entropy(), logit, dtype)
            assert entropy == pytest.approx(-success - odds_times_failure, rel=1e-5, abs=1e-9), logit
            assert slope == pytest.approx(odds_slope(logit), rel=1e-4, abs=1e-9), logit


def odds_slope(logit: float) -> float:
    """The derivative of the entropy, log(1 - p) / p times p (1 - p) / p."""
    return -1.0 if logit < -30 else -math.exp(-logit) * (logit if logit > 50 else math.log1p(math.exp(logit)))


def test_geometric_distributions_of_probabilities() -> None:
    for rate in (1e-300, 1e-9, 0.5, 1 - 1e-12, 1.0):
        failure = 0.0 if rate == 1 else (1 - rate) / rate * math.log1p(-rate)
        entropy, _ = _by(lambda x: Geometric(probs=x).entropy(), rate, ow.float64)
        assert entropy == pytest.approx(-math.log(rate) - failure, rel=1e-9), rate


def test_expanded_distributions_are_of_what_they_were() -> None:
    expanded = Geometric(logits=ow.tensor(50.0)).expand((2,))
    assert expanded.log_prob(ow.tensor(1.0)).tolist() == [-50, -50]
    given = Geometric(probs=ow.tensor(1.0))
    assert given.logits.isfinite()
    assert given.expand((2,)).entropy().tolist() == [0, 0]
