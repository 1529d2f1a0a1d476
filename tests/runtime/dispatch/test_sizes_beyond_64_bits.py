"""Counts, sizes and offsets whose sums and products 64 bits do not hold, and work that would end in no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest

FAR = [-(2**63), -(2**63) + 1, 2**63 - 1, 4, -4]
INVERSE_OF_7 = 0x6DB6DB6DB6DB6DB7
"""Times 7 it is 1 modulo 2**64."""


@pytest.mark.parametrize("offset", FAR)
def test_diagonals_that_far_off_are_empty(offset: int) -> None:
    x = opweave.arange(9.0).reshape(3, 3)
    assert x.diagonal(offset).shape == (0,)
    assert opweave.diag(x, offset).tolist() == []
    assert opweave.linalg.diagonal(x, offset=offset).shape == (0,)
    assert opweave.diagonal_scatter(x, opweave.zeros(0), offset).tolist() == x.tolist()


def test_diagonals_near_by() -> None:
    x = opweave.arange(12.0).reshape(3, 4)
    results = [x.diagonal(offset).tolist() for offset in range(-3, 5)]
    assert results == [[], [8.0], [4.0, 9.0], [0.0, 5.0, 10.0], [1.0, 6.0, 11.0], [2.0, 7.0], [3.0], []]


@pytest.mark.parametrize("call", [opweave.diag_embed, opweave.diagflat, opweave.diag], ids=lambda f: f.__name__)
@pytest.mark.parametrize("offset", [-(2**63), 2**63 - 1, 2**62])
def test_matrices_for_such_diagonals_are_refused(call: Callable[..., Any], offset: int) -> None:
    with pytest.raises((RuntimeError, TypeError)):
        call(opweave.ones(3), offset)


def test_repeats_that_add_up_to_more() -> None:
    many = opweave.tensor([2**62] * 4)
    for call in (
        lambda: opweave.repeat_interleave(many),
        lambda: opweave.ones(4).repeat_interleave(many),
        lambda: opweave.ones(4, 0).repeat_interleave(many, 0),
        lambda: opweave.ones(1).repeat_interleave(opweave.tensor([2**61])),
        lambda: opweave.repeat_interleave(opweave.tensor([2**61])),
        lambda: opweave.ones(2).repeat_interleave(2**62),
        lambda: opweave.ones(2).repeat(2**62, 2**62),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_rows_without_elements_are_repeated_at_once() -> None:
    assert opweave.ones(4, 0).repeat_interleave(opweave.tensor([2**60] * 4), 0).shape == (2**62, 0)
    assert opweave.ones(2, 0).repeat_interleave(opweave.tensor([2**61]), 0).shape == (2**62, 0)
    assert opweave.ones(3, 2).repeat_interleave(opweave.tensor([1, 0, 2]), 0).shape == (3, 2)


def test_distances_of_rows_without_columns_are_refused_before_they_are_summed() -> None:
    rows = opweave.zeros(2**32, 0)
    for p in (0.0, 1.0, 2.0, 3.0):
        with pytest.raises(RuntimeError, match=r"overflow|memory"):
            opweave.cdist(rows, rows, p)


def test_products_of_batches_without_elements() -> None:
    x = opweave.zeros(1, 1, 0).expand(7, INVERSE_OF_7, 0)
    for call in (lambda: x @ opweave.zeros(0, 3), lambda: opweave.matmul(x, opweave.zeros(0))):
        with pytest.raises((RuntimeError, TypeError), match=r"(?i)overflow"):
            call()
    assert (opweave.zeros(5, 2**40, 0) @ opweave.zeros(0, 0)).shape == (5, 2**40, 0)


def test_steps_that_lead_beyond_leave_one_position() -> None:
    x = opweave.arange(5.0)
    assert x[:: 2**62].tolist() == [0.0]
    assert x.view(5, 1)[:: 2**62].tolist() == [[0.0]]
    assert x.view(5, 1)[:: 2**62, None].shape == (1, 1, 1)
    assert x.unfold(0, 2, 2**62).tolist() == [[0.0, 1.0]]
    assert x.view(5, 1).unfold(0, 2, 2**62).shape == (1, 1, 2)


def test_strides_of_what_has_no_elements() -> None:
    empty = opweave.empty_strided((5, 0), (2**62, 1))
    assert empty[None].shape == (1, 5, 0)
    assert empty.unsqueeze(0).shape == (1, 5, 0)
    assert empty.expand(1, 5, 0).shape == (1, 5, 0)
    assert empty.flip(0).tolist() == [[]] * 5
    assert (empty + 1).tolist() == [[]] * 5


def test_broadcasting_of_single_elements_beside_more_dimensions() -> None:
    for few in ((1,) * 4, (1,) * 6, (1, 1)):
        assert (opweave.ones(few) + opweave.ones((2,) * 7)).sum().item() == 256.0
        assert (opweave.ones((2,) * 7) * opweave.ones(few)).stride() == (64, 32, 16, 8, 4, 2, 1)
