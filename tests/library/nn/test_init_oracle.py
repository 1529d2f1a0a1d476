"""First values under a seed, and errors of nn.init, beside torch's."""

from __future__ import annotations

import pytest
from harness.oracle import Like
from harness.programs import check

CLOSE = Like(rtol=2e-6, atol=1e-6, scale=True, strides=False)
CALLS = """
uniform_(w, -1.0, 3.0)
uniform_(w)
normal_(w, 2.0, 0.5)
normal_(w)
trunc_normal_(w)
trunc_normal_(w, 0.5, 2.0, -1.0, 1.5)
constant_(w, 0.3)
ones_(w)
zeros_(w)
eye_(w)
eye_(L.empty(3))
dirac_(L.empty(4, 2, 3))
dirac_(L.empty(4, 2, 3, 3), 2)
dirac_(L.empty(3, 2, 2, 3, 3))
dirac_(w)
dirac_(L.empty(3, 2, 2), groups=2)
xavier_uniform_(w)
xavier_uniform_(w, gain=nn.init.calculate_gain('relu'))
xavier_normal_(w)
xavier_normal_(L.empty(2, 3, 4, 5), 0.5)
xavier_normal_(L.empty(5))
kaiming_uniform_(w)
kaiming_uniform_(w, a=1.5, mode='fan_out')
kaiming_uniform_(w, nonlinearity='tanh')
kaiming_uniform_(w, mode='other')
kaiming_uniform_(w, nonlinearity='other')
kaiming_uniform_(L.empty(0, 3))
kaiming_normal_(w, nonlinearity='relu', generator=L.Generator().manual_seed(4))
kaiming_normal_(L.empty(3, 2, 3))
orthogonal_(w)
orthogonal_(L.empty(3, 7), 2.0)
orthogonal_(L.empty(4, 2, 2))
orthogonal_(L.empty(4))
sparse_(w, 0.4)
sparse_(L.empty(4), 0.4)
calculate_gain('sigmoid'), nn.init.calculate_gain('leaky_relu', 0.2), nn.init.calculate_gain('selu')
calculate_gain('leaky_relu', 'a')
calculate_gain('other')
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_values(call: str) -> None:
    check(f"w = L.empty(5, 4)\nnn.init.{call}", CLOSE)


def test_parameters_are_filled_without_a_history() -> None:
    check("p = nn.Parameter(L.zeros(2, 3))\nnn.init.ones_(p) is p, p.is_leaf, p")
