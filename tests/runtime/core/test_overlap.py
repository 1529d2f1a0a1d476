"""memory_overlap against sets of bytes, for random views of one storage."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from .conftest import F32, F64, U8, Core

ITEMSIZE = {U8: 1, F32: 4, F64: 8}


@st.composite
def views(draw: st.DrawFn) -> tuple[list[int], list[int], int, int]:
    ndim = draw(st.integers(0, 3))
    sizes = draw(st.lists(st.integers(0, 4), min_size=ndim, max_size=ndim))
    strides = draw(st.lists(st.integers(-9, 9), min_size=ndim, max_size=ndim))
    return sizes, strides, draw(st.integers(100, 120)), draw(st.sampled_from([U8, F32, F64]))


def elements(sizes: list[int], strides: list[int], offset: int, itemsize: int) -> list[int]:
    starts = [offset]
    for size, stride in zip(sizes, strides, strict=True):
        starts = [start + k * stride for start in starts for k in range(size)]
    return [start * itemsize for start in starts]


@settings(max_examples=150)
@given(views(), views())
def test_against_sets_of_bytes(
    core: Core, first: tuple[list[int], list[int], int, int], second: tuple[list[int], list[int], int, int]
) -> None:
    base = core.empty([1000])
    handles, starts, touched = [], [], []
    for sizes, strides, offset, dtype in (first, second):
        handles.append(core.view(base, sizes, strides, offset, dtype))
        starts.append(elements(sizes, strides, offset, ITEMSIZE[dtype]))
        touched.append({start + b for start in starts[-1] for b in range(ITEMSIZE[dtype])})
    got = core.lib.memory_overlap(*handles)
    if not touched[0] & touched[1]:
        assert got == 0
    elif got == 1:
        assert starts[0] == starts[1]
        assert ITEMSIZE[first[3]] == ITEMSIZE[second[3]]
    else:
        assert got == 2
    for handle in (*handles, base):
        core.lib.release(handle)


def test_long_views_are_exact(core: Core) -> None:
    n = 1_000_000
    t = core.empty([n + 10])
    even, odd = core.view(t, [n // 2], [2]), core.view(t, [n // 2], [2], 1)
    third, ninth = core.view(t, [n // 6], [6], 1), core.view(t, [n // 9], [9], 3)
    left, right = core.view(t, [1000, 500], [1000, 1]), core.view(t, [1000, 500], [1000, 1], 500)
    wide = core.view(t, [1000, 501], [1000, 1])
    lib = core.lib
    assert lib.memory_overlap(even, odd) == 0
    assert lib.memory_overlap(third, ninth) == 0  # 6i + 1 = 9j + 3 has no solution
    assert lib.memory_overlap(odd, third) == 2
    assert lib.memory_overlap(left, right) == 0
    assert lib.memory_overlap(wide, right) == 2
    assert lib.memory_overlap(even, even) == 1
    same = core.view(t, [1, n // 2], [77, 2])
    assert lib.memory_overlap(even, same) == 1
    for handle in (t, even, odd, third, ninth, left, right, wide, same):
        lib.release(handle)
