"""Conditions and masks of uint8, and what is written to elements that are one in memory."""

from __future__ import annotations

import opweave
import pytest

Tensor = opweave.Tensor


def expanded(*shape: int, dtype: opweave.dtype = opweave.float32) -> Tensor:
    """Zeros that are all one number in memory."""
    return opweave.zeros(1, dtype=dtype).expand(*shape)


@pytest.mark.parametrize("dtype", [opweave.float32, opweave.float16, opweave.int64, opweave.complex64])
def test_where_takes_a_condition_of_uint8(dtype: opweave.dtype) -> None:
    # Any number but zero is true, whichever bits it has.
    condition = opweave.tensor([2, 0, 255, 128], dtype=opweave.uint8)
    x, y = opweave.tensor([1, 2, 3, 4], dtype=dtype), opweave.tensor([5, 6, 7, 8], dtype=dtype)
    out = opweave.where(condition, x, y, out=y.clone())
    for result in (opweave.where(condition, x, y), x.where(condition, y), out):
        assert result.dtype is dtype
        assert result.tolist() == [1, 6, 3, 4]
    assert opweave.where(condition[::2], x[::2], 9).tolist() == [1, 3]
    assert opweave.where(condition[1], x, y).tolist() == [5, 6, 7, 8]
    long = condition.repeat(1000)
    assert opweave.where(long, 1, 0).sum().item() == 3000


def test_gradients_by_a_condition_of_uint8() -> None:
    x = opweave.ones(3, requires_grad=True)
    y = opweave.ones(3, requires_grad=True)
    opweave.where(opweave.tensor([2, 0, 1], dtype=opweave.uint8), x * 2, y * 3).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 2.0]
    assert y.grad.tolist() == [0.0, 3.0, 0.0]


def test_other_conditions_are_refused() -> None:
    for dtype in (opweave.int8, opweave.int64, opweave.float32):
        with pytest.raises(RuntimeError, match="to be a bool tensor"):
            opweave.where(opweave.ones(2, dtype=dtype), opweave.ones(2), opweave.ones(2))


# ---- elements that are one in memory ------------------------------------------------------------------------


def test_masked_fill_of_an_expanded_tensor() -> None:
    for value in (7, opweave.tensor(7.0)):
        x = expanded(4)
        assert x.masked_fill_(opweave.tensor([False, True, False, False]), value) is x
        assert x.tolist() == [7.0, 7.0, 7.0, 7.0]
        assert expanded(3).masked_fill_(opweave.zeros(3, dtype=opweave.bool), value).tolist() == [0.0, 0.0, 0.0]
    rows = opweave.zeros(2, 1).expand(2, 3)
    rows.masked_fill_(opweave.tensor([[False], [True]]), 1)
    assert rows.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    rows.masked_fill_(opweave.tensor([False, False, True]), 2)
    assert rows.tolist() == [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    many = expanded(100_000)
    many.masked_fill_(opweave.arange(100_000) == 77, 1)
    assert many.sum().item() == 100_000
    assert expanded(0).masked_fill_(opweave.zeros(0, dtype=opweave.bool), 1).shape == (0,)


def test_index_fill_of_an_expanded_tensor() -> None:
    x = expanded(4)
    assert x.index_fill_(0, opweave.tensor([2, -4]), 5) is x
    assert x.tolist() == [5.0, 5.0, 5.0, 5.0]
    columns = opweave.zeros(3).expand(2, 3)
    columns.index_fill_(-1, opweave.tensor([1]), opweave.tensor(2.0))
    assert columns.tolist() == [[0.0, 2.0, 0.0], [0.0, 2.0, 0.0]]
    assert expanded(2).index_fill_(0, opweave.tensor([], dtype=opweave.int64), 1).tolist() == [0.0, 0.0]
    with pytest.raises(IndexError, match="out of bounds"):
        expanded(2).index_fill_(0, opweave.tensor([2]), 1)


def test_fills_count_as_writing() -> None:
    mask = opweave.tensor([True, False])
    base = opweave.zeros(1)
    version = base._version
    base.expand(2).masked_fill_(mask, 1)
    assert base._version == version + 1
    w = opweave.ones(1, requires_grad=True)
    (w * 1).expand(2).masked_fill_(mask, 5).sum().backward()
    assert w.grad.tolist() == [0.0]
    inside = opweave.zeros(1, dtype=opweave.bool)
    with pytest.raises(RuntimeError, match="single memory location"):
        inside.expand(2).masked_fill_(inside, 1)


def test_masks_are_filled_where_they_are_true() -> None:
    for write in (
        lambda mask: mask.masked_fill_(mask, False),
        lambda mask: mask.__setitem__(mask, False),
        lambda mask: mask.__setitem__(mask, opweave.tensor(0.0)),
    ):
        mask = opweave.tensor([True, False, True])
        write(mask)
        assert mask.tolist() == [False] * 3
    both = opweave.tensor([True, False, True])
    for write in (
        lambda: both[1:].masked_fill_(both[:2], True),
        lambda: both[1:].__setitem__(both[:2], True),
        lambda: both.__setitem__(both, both[:2]),
    ):
        with pytest.raises(RuntimeError, match="single memory location"):
            write()


def test_writing_different_values_there_is_refused() -> None:
    index, values = opweave.tensor([0, 1]), opweave.ones(2)
    for write in (
        lambda: expanded(2).add_(1),
        lambda: expanded(2).copy_(values),
        lambda: expanded(2).index_copy_(0, index, values),
        lambda: expanded(2).scatter_(0, index, 1.0),
        lambda: expanded(2).masked_scatter_(index == 0, values),
    ):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write()
