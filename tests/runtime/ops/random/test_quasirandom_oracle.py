"""Sobol sequences, with and without scrambling."""

from __future__ import annotations

from harness import expressions, oracle

E = "E = L.quasirandom.SobolEngine; "
CALLS = r"""
e = E(5); [e.draw(3), e.draw(1), e.draw(4, dtype=L.float64), e.num_generated, e.quasi]
e = E(1); [e.draw(), e.draw(), e.draw_base2(1), e.reset().draw_base2(3)]
e = E(7, scramble=True, seed=5); [e.draw(3), e.fast_forward(3).draw(2), e.shift, e.sobolstate, e.reset().draw(2)]
L.manual_seed(3); e = E(3, True); [e.draw(4), e, L.rand(2)]
e = E(40).fast_forward(1000); [e.draw(3), E(2).fast_forward(2**30 - 2).draw(1), repr(E(3, seed=1))]
o = L.empty(0); e = E(2); [e.draw(3, out=o) is o, o]
e = E(3).fast_forward(0).fast_forward(1); [e.draw(2), e.draw(0)]
E(0)
E(21202)
e = E(2); e.draw(3); e.draw_base2(1)
e = E(2); e.draw(3); e.draw(2, dtype=L.half)
"""


def test_calls() -> None:
    expressions.check_all(CALLS.strip().split("\n"), E)


def test_all_dimensions() -> None:
    """Every dimension has torch's direction numbers."""

    def sums(library: object) -> list[object]:
        state = library.quasirandom.SobolEngine(21201).sobolstate  # type: ignore[attr-defined]
        weights = 2 * library.arange(21201 * 30).reshape(21201, 30) + 1  # type: ignore[attr-defined]
        return [(state * weights).sum().item(), state[:: 21201 // 5, ::7].tolist()]

    oracle.check(sums)
