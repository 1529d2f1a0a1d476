"""Tensors from Python and NumPy data: what torch does not do, memory, and ownership."""

from __future__ import annotations

import array
import gc
import subprocess
import sys
import warnings
import weakref
from typing import Any

import numpy as np
import opweave
import pytest
from hypothesis import given
from hypothesis import strategies as st

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]

LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "sliced": lambda x: x[1:, 1:],
    "step": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1],
    "backwards with a step": lambda x: x[::-2, ::-1],
    "number": lambda x: x[1, 1, ...],
    "empty": lambda x: x[:0],
    "expanded": lambda x: np.lib.stride_tricks.as_strided(x, (2, 3), (0, x.itemsize)),
}


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_numpy_memory_is_shared_both_ways(dtype: str, layout: str) -> None:
    base = (np.arange(12) % 2).reshape(3, 4).astype(dtype)
    source = LAYOUTS[layout](base)
    t = opweave.from_numpy(source)
    assert t.dtype is getattr(opweave, dtype)
    assert tuple(t.shape) == source.shape
    assert t.tolist() == source.tolist()
    back = t.numpy()
    assert back.dtype == source.dtype
    assert back.shape == source.shape
    np.testing.assert_array_equal(back, source)
    if source.size and layout != "expanded":
        assert back.ctypes.data == source.ctypes.data
        assert back.strides == source.strides
        source[...] = 1
        assert t.tolist() == source.tolist()
        t[...] = 0
        assert not source.any()
        assert not back.any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensor_copies_arrays(layout: str) -> None:
    base = np.arange(12.0).reshape(3, 4)
    source = LAYOUTS[layout](base)
    t = opweave.tensor(source)
    assert t.tolist() == source.tolist()
    before = t.tolist()
    base[...] = -1
    assert t.tolist() == before


def test_arrays_live_as_long_as_tensors() -> None:
    source = np.arange(1000.0)
    reference = weakref.ref(source)
    t = opweave.from_numpy(source)
    view = t[10:]
    del source, t
    gc.collect()
    assert reference() is not None
    assert view[0].item() == 10.0
    del view
    gc.collect()
    assert reference() is None


def test_tensors_live_as_long_as_arrays() -> None:
    t = opweave.arange(1000)
    back = t.numpy()[5:]
    del t
    gc.collect()
    opweave.zeros(1000, dtype=opweave.int64)
    assert back[:3].tolist() == [5, 6, 7]


def test_round_trips_give_back_the_memory() -> None:
    def use() -> None:
        opweave.from_numpy(opweave.zeros(10).numpy()).numpy()
        opweave.tensor([1.0, 2.0]), opweave.tensor([1, 2], dtype=opweave.float16), opweave.as_tensor(np.zeros(3))
        for bad in ([1, [2]], [2**70], "x", None, [[1], []]):
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                opweave.tensor(bad)

    use()  # what is made once and kept
    gc.collect()
    before = opweave.cpu.memory_stats()["allocation.all.current"]
    for _ in range(50):
        use()
    gc.collect()
    assert opweave.cpu.memory_stats()["allocation.all.current"] == before


def test_read_only_arrays_are_not_written() -> None:
    source = np.arange(3.0)
    source.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        t = opweave.from_numpy(source)
    assert (t + 1).tolist() == [1.0, 2.0, 3.0]
    for write in (lambda: t.add_(1), lambda: t.copy_(1), lambda: t.__setitem__(0, 5), lambda: t[1:].copy_(1)):
        with pytest.raises(RuntimeError):
            write()
    assert source.tolist() == [0.0, 1.0, 2.0]
    assert not t.numpy().flags.writeable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opweave.tensor(source).add_(1)
        opweave.zeros(3)[:] = source


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (np.zeros(3, ">f4"), ValueError, "byte order"),
        (np.zeros(3, "S3"), TypeError, "can't convert np.ndarray of type numpy.bytes_"),
        (np.zeros(3, "U3"), TypeError, "can't convert np.ndarray of type numpy.str_"),
        (np.array([object()]), TypeError, "can't convert np.ndarray of type numpy.object_"),
        (np.zeros(3, [("a", "f4"), ("b", "i2")]), TypeError, "can't convert np.ndarray of type numpy.void"),
        (np.zeros(3, [("a", "f4"), ("b", "i2")])["a"], ValueError, "not a multiple of the element byte size"),
        (np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float32), ValueError, "not aligned"),
        ([1], TypeError, r"expected np.ndarray \(got list\)"),
        (np.float32(1), TypeError, r"expected np.ndarray \(got numpy.float32\)"),
    ],
)
def test_arrays_that_are_refused(source: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        opweave.from_numpy(source)


NUMBERS = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(width=32))


@given(st.data())
def test_nested_lists(data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
    kinds = data.draw(st.sampled_from([st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(width=32)]))
    count = int(np.prod(shape))
    flat = data.draw(st.lists(kinds, min_size=count, max_size=count))

    def nest(dims: tuple[int, ...], values: list[Any]) -> Any:
        if not dims:
            return values[0]
        step = len(values) // dims[0] if dims[0] else 0
        sequence = [nest(dims[1:], values[i * step : (i + 1) * step]) for i in range(dims[0])]
        return tuple(sequence) if data.draw(st.booleans()) else sequence

    nested = nest(shape, flat) if count or 0 in shape else []
    t = opweave.tensor(nested)
    # An empty list has no elements whose shape could be seen.
    seen = shape[: shape.index(0) + 1] if 0 in shape else shape
    assert tuple(t.shape) == seen
    got = t.reshape(-1).tolist()
    assert len(got) == count
    for mine, given_ in zip(got, flat, strict=True):
        assert type(mine) is type(given_)
        assert mine == given_ or (mine != mine and given_ != given_)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@given(st.lists(st.floats(width=64), max_size=20))
def test_floats_are_rounded_to_nearest(dtype: str, values: list[float]) -> None:
    t = opweave.tensor(values, dtype=getattr(opweave, dtype))
    if dtype == "bfloat16":
        # Round the bits of a float32; values that need two roundings are left out.
        with np.errstate(over="ignore"):
            values = [float(np.float32(value)) for value in values]
        t = opweave.tensor(values, dtype=opweave.bfloat16)
        bits = np.array(values, np.float32).view(np.uint32).astype(np.uint64)
        rounded = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16) << np.uint64(16)).astype(
            np.uint32
        )
        expected = np.where(np.isnan(values), np.nan, rounded.view(np.float32))
    else:
        with np.errstate(over="ignore"):
            expected = np.array(values, np.float64).astype(dtype)
    np.testing.assert_array_equal(np.array(t.tolist(), np.float64), expected.astype(np.float64))


def test_depth_is_limited() -> None:
    deep: Any = 1
    for _ in range(64):
        deep = [deep]
    assert opweave.tensor(deep).ndim == 64
    for data in ([deep], [[deep]]):
        with pytest.raises(ValueError, match="too many dimensions 'list'"):
            opweave.tensor(data)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        opweave.tensor(endless)


def test_ragged_lists_with_an_empty_one() -> None:
    with pytest.raises(ValueError, match=r"expected sequence of length 0 at dim 1 \(got 1\)"):
        opweave.tensor([[], [1]])


def test_default_dtype() -> None:
    try:
        opweave.set_default_dtype(opweave.float64)
        assert opweave.get_default_dtype() is opweave.float64
        assert opweave.tensor([1.5]).dtype is opweave.float64
        assert opweave.tensor([]).dtype is opweave.float64
        assert opweave.tensor([1]).dtype is opweave.int64
        assert repr(opweave.tensor([1.5])) == "tensor([1.5000])"
    finally:
        opweave.set_default_dtype(opweave.float32)
    assert opweave.tensor([1.5]).dtype is opweave.float32


def test_buffers() -> None:
    source = array.array("i", [1, 2, 3])
    t = opweave.asarray(source, dtype=opweave.int32)
    t[1] = 20
    assert source[1] == 20
    shared = opweave.frombuffer(memoryview(source)[1:], dtype=opweave.int32)
    assert shared.tolist() == [20, 3]
    with pytest.raises(ValueError, match="not contiguous"):
        opweave.frombuffer(memoryview(source)[::2], dtype=opweave.int32)
    constant = opweave.frombuffer(b"abcd", dtype=opweave.uint8)
    with pytest.raises(RuntimeError):
        constant[0] = 1
    assert constant.tolist() == [97, 98, 99, 100]


def test_a_tensor_of_a_tensor_is_a_copy_and_says_so() -> None:
    a = opweave.tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        b = opweave.tensor(a)
    b[0] = 9
    assert a.tolist() == [1.0, 2.0]


def test_import_does_not_need_numpy() -> None:
    program = (
        "import sys, opweave as ow\n"
        "t = ow.tensor([[1, 2], [3, 4.0]]); t[0] = [5, 6]; repr(t + 1); t.storage()[0]; t.tolist()\n"
        "import pickle, copy; copy.deepcopy(pickle.loads(pickle.dumps(t)))\n"
        "assert 'numpy' not in sys.modules, 'numpy was imported'\n"
        "t.numpy()\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_the_interpreter_ends_quietly_with_tensors_left() -> None:
    program = (
        "import numpy, opweave, sys\n"
        "a = opweave.zeros(3); b = opweave.from_numpy(numpy.zeros(3)); c = a.numpy(); s = b.storage()\n"
        "sys.modules['kept'] = [a, b, c, s]\n"
        "class Cycle: pass\n"
        "x = Cycle(); x.self = x; x.tensors = [b, opweave.from_numpy(numpy.ones(4))]\n"
    )
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], check=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize("copy", [None, True, False])
def test_asarray_of_a_tensor_with_a_history(copy: bool | None) -> None:
    leaf = opweave.ones(2, requires_grad=True)
    product = leaf * 2
    for wanted in (None, True):
        result = opweave.asarray(product, copy=copy, requires_grad=wanted)
        assert (result is product) == (not copy)
        result.sum().backward(retain_graph=True)
    assert leaf.grad.tolist() == [4, 4]
    result = opweave.asarray(product, copy=copy, requires_grad=False)
    assert not result.requires_grad
    assert product.requires_grad


def test_asarray_changes_leaves_that_it_shares() -> None:
    leaf = opweave.ones(2)
    assert opweave.asarray(leaf, requires_grad=True) is leaf
    assert leaf.requires_grad
    assert opweave.asarray(leaf, copy=True, requires_grad=False) is not leaf
    assert leaf.requires_grad
    assert opweave.asarray(leaf, requires_grad=False) is leaf
    assert not leaf.requires_grad


def test_a_range_that_is_written_to_another_number_of_elements() -> None:
    for out, text in [
        (opweave.empty(2), r"shape \[2\] is 2 .* elements 4.*\(4,\)"),
        (opweave.empty(2, 1), r"\[2, 1\]"),
    ]:
        with pytest.warns(UserWarning, match=text):
            assert opweave.arange(4, out=out).tolist() == [0, 1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opweave.arange(4, out=opweave.empty(0)).tolist() == [0, 1, 2, 3]
        assert opweave.arange(4, out=opweave.empty(2, 2)).tolist() == [[0, 1], [2, 3]]
        assert opweave.arange(0, 2.5, dtype=opweave.int64).tolist() == [0, 1]


class Shrinking:
    """A number that changes the list it stands in when it is read."""

    def __init__(self, inside: list[Any]) -> None:
        self.inside = inside

    def __float__(self) -> float:
        self.inside.clear()
        return 1.0


def test_lists_that_change_meanwhile() -> None:
    row: list[Any] = [2.0]
    row.insert(0, Shrinking(row))
    with pytest.raises(RuntimeError, match=r"Could not infer dtype of .*Shrinking"):
        opweave.tensor([row, [3.0, 4.0]])
    assert opweave.tensor([row, [3.0, 4.0]], dtype=opweave.float32).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert not row


def test_a_list_that_contains_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions"):
        opweave.tensor(endless)


@pytest.mark.parametrize(
    ("data", "dtype", "error"),
    [
        ([10**400], "float64", OverflowError),
        ([1.0, 10**400], None, OverflowError),
        ([2**63], None, ValueError),
        ([True, 2**63], "int64", ValueError),
        ([128], "int8", RuntimeError),
        ([1j], "float32", TypeError),
        ([1, [2]], None, TypeError),
        ([[1], 2], None, TypeError),
        ([[1], [2, 3]], None, ValueError),
        ([1, None], None, RuntimeError),
        ([float("nan")], "int32", RuntimeError),
    ],
)
def test_numbers_that_do_not_fit(data: Any, dtype: str | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        opweave.tensor(data, dtype=dtype and getattr(opweave, dtype))


def test_numbers_of_many_rows() -> None:
    rows = [[float(k * 7 + j) for j in range(7)] for k in range(300)]  # more than are converted at a time
    for dtype in ("float32", "bfloat16", "complex64"):
        assert opweave.tensor(rows, dtype=getattr(opweave, dtype)).equal(
            opweave.arange(2100.0, dtype=opweave.float64).view(300, 7).to(getattr(opweave, dtype))
        )
    whole = [[k % 100 for k in range(n, n + 7)] for n in range(300)]
    assert opweave.tensor(tuple(map(tuple, whole)), dtype=opweave.int8).tolist() == whole
