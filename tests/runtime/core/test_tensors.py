"""Handles and storages through api.h: shapes, strides, flags, views, foreign memory, resizing, bad input."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .conftest import BOOL, F32, F64, I64, U8, Core

CONTIGUOUS, NUMBER, DENSE = 1, 2, 4
RUNTIME_ERROR, INDEX_ERROR = 1, 2

FAILURES = [
    ([2**62, 4], None, "numel: integer multiplication overflow"),
    ([2**61], None, "Storage size calculation overflowed with sizes=[2305843009213693952]"),
    ([-1, 2], None, "Trying to create tensor with negative dimension -1: [-1, 2]"),
    ([0, 2**62, 4], None, "Stride calculation overflowed"),
    ([2, 3], [-1, 1], "Storage size calculation overflowed with sizes=[2, 3] and strides=[-1, 1]"),
    (
        [2**40, 3],
        [2**40, 1],
        "Storage size calculation overflowed with sizes=[1099511627776, 3] and strides=[1099511627776, 1]",
    ),
    ([1] * 65, None, "a tensor can have at most 64 dimensions, got 65"),
]


@pytest.mark.parametrize(("sizes", "strides", "message"), FAILURES)
def test_bad_shapes(core: Core, sizes: list[int], strides: list[int] | None, message: str) -> None:
    assert core.empty(sizes, strides) == 0
    assert core.error() == (RUNTIME_ERROR, message)


def test_first_error_wins(core: Core) -> None:
    core.empty([-1])
    core.empty([-2])
    assert "dimension -1" in core.error()[1]
    assert core.error() == (0, "")


@given(st.lists(st.integers(0, 4), max_size=8))
def test_new_tensors_are_contiguous(core: Core, sizes: list[int]) -> None:
    t = core.empty(sizes, dtype=I64)
    assert core.sizes(t) == sizes
    assert core.strides(t) == [int(np.prod([max(s, 1) for s in sizes[d + 1 :]])) for d in range(len(sizes))]
    assert core.lib.numel(t) == int(np.prod(sizes))
    assert core.lib.flags(t) == CONTIGUOUS | DENSE
    assert core.lib.storage_nbytes(core.lib.storage_of(t)) == 8 * core.lib.numel(t)
    assert (core.lib.data_ptr(t) == 0) == (core.lib.numel(t) == 0)
    assert core.lib.data_ptr(t) % 64 == 0
    core.lib.release(t)


@given(st.permutations(range(4)), st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(1, 2))
def test_flags_of_views(core: Core, order: list[int], sizes: list[int], step: int) -> None:
    a = np.zeros(sizes, np.float32).transpose(order)[::step]
    t = core.empty([max(a.size * step, 1) * 4])
    view = core.view(t, list(a.shape), [s // 4 for s in a.strides])
    flags = core.lib.flags(view)
    assert bool(flags & CONTIGUOUS) == a.flags.c_contiguous
    moved = [(stride // 4, size) for stride, size in zip(a.strides, a.shape, strict=True) if size != 1]
    expected = 1
    dense = True
    for stride, size in sorted(moved):
        dense = dense and stride == expected
        expected *= size
    assert bool(flags & DENSE) == (dense or a.size == 0)
    core.lib.release(t)
    core.lib.release(view)


def test_views_outlive_the_first_handle(core: Core) -> None:
    for n in (4, 4096, 1 << 20):
        t = core.empty([n])
        core.bytes(t, 4)[:] = struct.pack("f", 2.5)
        view = core.view(t, [1], [1])
        core.lib.release(t)
        others = [core.empty([n]) for _ in range(20)]
        assert core.lib.item_d(view) == 2.5
        for other in [*others, view]:
            core.lib.release(other)


def test_as_strided_checks_its_bounds(core: Core) -> None:
    t = core.empty([4])
    cases = [
        (
            ([5], [1], 0),
            (
                "setStorage: sizes [5], strides [1], storage offset 0, and itemsize 4 requiring a storage size of 20 "
                "are out of bounds for storage of size 16"
            ),
        ),
        (([2], [1], -1), "Tensor: invalid storage offset -1"),
        (
            ([2], [-1], 0),
            (
                "setStorage: sizes [2], strides [-1], storage offset 0, and itemsize 4 requiring a storage size of 4 "
                "are out of bounds for storage of size 16"
            ),
        ),
        (([2**62], [2**62], 0), f"Storage size calculation overflowed with sizes=[{2**62}] and strides=[{2**62}]"),
        (([1], [1], 2**62), f"Tensor: storage offset {2**62} is too large"),
    ]
    for arguments, message in cases:
        assert core.view(t, *arguments) == 0
        assert core.error() == (RUNTIME_ERROR, message)
    last = core.view(t, [2, 2], [0, 1], 2)
    assert core.lib.storage_offset(last) == 2
    backwards = core.view(t, [4], [-1], 3)
    assert core.lib.storage_offset(backwards) == 3
    beyond = core.view(t, [0], [1], 7)
    assert (core.lib.storage_offset(beyond), core.lib.data_ptr(beyond)) == (7, 0)
    for handle in (t, last, backwards, beyond):
        core.lib.release(handle)


def test_numbers_and_items(core: Core) -> None:
    lib = core.lib
    for t, kind, dtype in ((lib.number_b(7), 0, BOOL), (lib.number_i(-5), 1, I64), (lib.number_d(0.1), 2, F64)):
        assert (lib.item_kind(t), lib.dtype(t), lib.ndim(t)) == (kind, dtype, 0)
        assert lib.flags(t) == CONTIGUOUS | NUMBER | DENSE
        if kind == 2:
            assert lib.item_d(t) == 0.1
        else:
            assert lib.item_i(t) == (1 if kind == 0 else -5)
        lib.release(t)
    two = core.empty([2])
    assert lib.item_kind(two) == -1
    lib.release(two)


def test_size_wraps_and_checks(core: Core) -> None:
    t, scalar = core.empty([2, 3]), core.empty([])
    assert [core.lib.size(t, d) for d in (0, 1, -1, -2)] == [2, 3, 3, 2]
    assert core.lib.size(t, 2) == -1
    message = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    assert core.error() == (INDEX_ERROR, message)
    assert core.lib.size(scalar, 0) == -1
    assert core.error() == (INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions")
    core.lib.release(t)
    core.lib.release(scalar)


def test_shapes_are_interned(core: Core) -> None:
    ids = {}
    for sizes in ([], [0], [7], [7, 1], [1, 7], [2, 3, 4, 5, 6]):
        t, same = core.empty(sizes), core.empty(sizes)
        ids[tuple(sizes)] = core.lib.shape_id(t)
        assert ids[tuple(sizes)] == core.lib.shape_id(same) >= 0
        core.lib.release(t)
        core.lib.release(same)
    assert len(set(ids.values())) == len(ids)
    seven = core.empty([1] * 7)
    assert core.lib.shape_id(seven) == -1
    core.lib.release(seven)


def test_interned_shapes_are_bounded(core: Core) -> None:
    t = core.empty([20000])
    seen = []
    for n in range(6000):
        view = core.view(t, [n, 1], [1, 1])
        seen.append(core.lib.shape_id(view))
        core.lib.release(view)
    assert max(seen) < 4096
    assert -1 in seen
    known = [i for i in seen if i >= 0]
    assert len(set(known)) == len(known) > 3000
    core.lib.release(t)


def foreign(core: Core, a: np.ndarray, owner: int, readonly: bool = False) -> float:
    low, high = np.lib.array_utils.byte_bounds(a)
    strides = core.list([s // a.itemsize for s in a.strides])
    dtype = {"f4": F32, "f8": F64, "u1": U8}[a.dtype.str[1:]]
    nbytes = high - low
    address = a.ctypes.data
    return float(core.lib.from_memory(address, nbytes, core.list(a.shape), strides, a.ndim, dtype, owner, readonly))


@pytest.fixture
def released(core: Core) -> Iterator[list[int]]:
    """The owners that the core gave back, in order."""
    owners: list[int] = []
    callback = core.ffi.callback("void(int64_t)", owners.append)
    core.lib.set_release_owner(int(core.ffi.cast("uintptr_t", callback)))
    yield owners
    core.lib.set_release_owner(0)


def test_foreign_memory(core: Core, released: list[int]) -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays = [base, base[::2, 1::3], base[::-1], base[:, ::-2], base.T, base[:0], base[2]]
    for owner, a in enumerate(arrays):
        t = foreign(core, a, owner, readonly=owner % 2 == 1)
        assert core.sizes(t) == list(a.shape)
        assert core.strides(t) == [s // 4 for s in a.strides]
        if a.size:
            assert core.lib.data_ptr(t) == a.ctypes.data
            first = core.view(t, [], [], core.lib.storage_offset(t))
            assert core.lib.item_d(first) == a.flat[0]
            core.lib.release(first)
        assert core.lib.storage_readonly(core.lib.storage_of(t)) == owner % 2
        view = core.view(t, [0], [1])
        core.lib.release(t)
        assert owner not in released
        core.lib.release(view)
        assert released == list(range(owner + 1))


def test_foreign_memory_is_checked(core: Core, released: list[int]) -> None:
    a = np.zeros(10, np.float32)
    address = a.ctypes.data
    bad = [
        (address, 36, [10], [1], "from_memory: the tensor needs 40 bytes, the memory has 36"),
        (address, 40, [10], [-1], None),
        (address, 40, [2], [-(2**62)], f"Storage size calculation overflowed with sizes=[2] and strides=[{-(2**62)}]"),
        (address + 1, 39, [2], [1], "is not a multiple of the 4 bytes of float32; copy the array first"),
        (address, 40, [-1], [1], "Trying to create tensor with negative dimension -1: [-1]"),
    ]
    for data, nbytes, sizes, strides, message in bad:
        t = core.lib.from_memory(data, nbytes, core.list(sizes), core.list(strides), len(sizes), F32, 1, 0)
        if message is None:  # the memory begins at the lowest element, so this one reaches from -36 to 4
            assert t != 0
            core.lib.release(t)
            assert released.pop() == 1
            continue
        assert t == 0
        assert message in core.error()[1]
    assert released == []


def test_resize(core: Core) -> None:
    t = core.empty([4], dtype=U8)
    core.bytes(t, 4)[:] = b"abcd"
    view = core.view(t, [2], [1], 2)
    for sizes in ([2, 2], [3, 1], [1] * 9, [5, 1 << 20], [], [4]):
        assert core.lib.resize_(t, core.list(sizes), len(sizes)) == 1
        assert core.sizes(t) == sizes
        assert core.lib.flags(t) == CONTIGUOUS | DENSE
        n = min(4, core.lib.numel(t))
        assert bytes(core.bytes(t, n)) == b"abcd"[:n]
    assert bytes(core.bytes(view, 2)) == b"cd"
    assert core.lib.resize_(view, core.list([1000]), 1) == 1
    assert bytes(core.bytes(view, 2)) == b"cd"
    core.lib.release(t)
    assert core.lib.resize_(view, core.list([-1]), 1) == 0
    assert "negative dimension" in core.error()[1]
    assert core.lib.resize_(view, core.list([2**62, 4]), 2) == 0
    assert core.error()[1] == "numel: integer multiplication overflow"
    assert core.lib.resize_(view, core.list([2**63 - 1]), 1) == 0
    assert core.error()[0] == RUNTIME_ERROR
    assert core.sizes(view) == [1000], "a failure changes nothing"
    core.lib.release(view)


def test_foreign_memory_does_not_grow(core: Core, released: list[int]) -> None:
    a = np.zeros(4, np.float32)
    t = foreign(core, a, 9)
    assert core.lib.resize_(t, core.list([2]), 1) == 1
    assert core.lib.resize_(t, core.list([5]), 1) == 0
    assert core.error() == (RUNTIME_ERROR, "Trying to resize storage that is not resizable")
    core.lib.release(t)
    assert released == [9]


def test_storage_keeps_its_memory(core: Core) -> None:
    t = core.empty([3])
    core.bytes(t, 12)[:] = struct.pack("3f", 1, 2, 3)
    s = core.lib.storage_of(t)
    core.lib.storage_retain(s)
    core.lib.release(t)
    assert core.lib.storage_nbytes(s) == 12
    whole = core.lib.storage_tensor(s, U8)
    assert core.sizes(whole) == [12]
    assert core.lib.storage_data(s) == core.lib.data_ptr(whole)
    core.lib.storage_release(s)
    assert bytes(core.bytes(whole, 12)) == struct.pack("3f", 1, 2, 3)
    core.lib.release(whole)


SPARSE = 8
"""A dispatch key of tensors that the core knows nothing of."""


def test_keys_turn_the_fast_path_off(core: Core) -> None:
    t = core.empty([2])
    core.lib.set_keys(t, SPARSE)
    assert core.lib.keys(t) == SPARSE
    assert core.lib.clone_(t, -1, 0) == 0
    assert core.lib.copy_(t, t) == 0
    assert core.error() == (0, ""), "not an error: Python's table has the answer"
    core.lib.release(t)
