"""What new memory holds where deterministic algorithms are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import opweave as ow
import pytest
from opweave.utils import deterministic


@pytest.fixture(autouse=True)
def asked_for() -> Iterator[None]:
    ow.use_deterministic_algorithms(True)
    yield
    ow.use_deterministic_algorithms(False)
    deterministic.fill_uninitialized_memory = True


def test_each_dtype() -> None:
    largest = {dtype: ow.iinfo(dtype).max for dtype in (ow.uint8, ow.uint16, ow.uint32, ow.uint64)}
    largest |= {dtype: ow.iinfo(dtype).max for dtype in (ow.int8, ow.int16, ow.int32, ow.int64)} | {ow.bool: True}
    for dtype, value in largest.items():
        assert ow.empty(5, dtype=dtype).tolist() == [value] * 5
    for dtype in (ow.float16, ow.bfloat16, ow.float32, ow.float64, ow.complex64, ow.complex128):
        assert ow.empty(50_000, dtype=dtype).isnan().all()
    assert ow.empty(1, dtype=ow.complex64).imag.item() == 0


def test_each_way_to_new_memory() -> None:
    one = ow.ones(1)
    for tensor in (
        *(ow.empty_strided((2, 3), (1, 4)), ow.empty_permuted((2, 3), (1, 0)), ow.empty_like(ow.ones(3))),
        *(one.new_empty(3), ow.Tensor(3), ow.empty(0).resize_(4), ow.ones(4)[2:].clone().resize_(9)[2:]),
    ):
        assert tensor.isnan().all()
    assert one.resize_(3).nan_to_num(7).tolist() == [1, 7, 7]
    assert ow.zeros(3).tolist() == [0, 0, 0]
    assert ow.empty(2, device="meta").shape == (2,)


def test_setting() -> None:
    assert deterministic.fill_uninitialized_memory is True
    deterministic.fill_uninitialized_memory = False
    assert deterministic.fill_uninitialized_memory is False
    written = ow.full((1000,), 3.0)
    del written
    assert not ow.empty(1000).isnan().all()
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        deterministic.fill_uninitialized_memory = 1
    deterministic.fill_uninitialized_memory = True
    assert ow.empty(3).isnan().all()
    ow.use_deterministic_algorithms(False)
    assert deterministic.fill_uninitialized_memory is True
