"""Pickles and copies of tensors: memory that is shared stays shared, and with protocol 5 it is not copied."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import opweave as ow
import pytest
from opweave._rebuild import _rebuild_tensor

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles(protocol: int) -> None:
    x = ow.arange(6.0).reshape(2, 3)
    p = ow.nn.Parameter(ow.ones(2, dtype=ow.bfloat16), requires_grad=False)
    content = [x, x.t(), p, ow.empty(3, device="meta"), ow.tensor([1j]).conj(), ow.empty(0, 2), ow.tensor(True)]
    found = pickle.loads(pickle.dumps(content, protocol))
    assert [each.tolist() for each in (*found[:3], *found[4:])] == [
        each.tolist() for each in (*content[:3], *content[4:])
    ]
    assert found[3].is_meta
    assert type(found[2]) is ow.nn.Parameter
    assert not found[2].requires_grad
    found[0][0, 1] = 9.0
    assert found[1][1, 0] == 9.0
    assert x[0, 1] == 1.0


def test_buffers_out_of_band_are_not_copied() -> None:
    x = ow.arange(1000.0)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps([x, x[10:]], 5, buffer_callback=buffers.append)
    assert len(data) < 1000
    assert len(buffers) == 1
    same, part = pickle.loads(data, buffers=buffers)
    assert same.data_ptr() == x.data_ptr()
    part[0] = -1.0
    assert x[10] == same[10] == -1.0
    del x, same, buffers
    assert part[:2].tolist() == [-1.0, 11.0], "the memory lives as long as a tensor uses it"


def test_buffers_of_others() -> None:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(ow.arange(4, dtype=ow.int32), 5, buffer_callback=buffers.append)
    raw = buffers[0].raw().tobytes()
    own = bytearray(raw)
    found = pickle.loads(data, buffers=[own])
    own[0] = 7
    assert found.tolist() == [7, 1, 2, 3]
    found = pickle.loads(data, buffers=[raw])  # which nobody may write to
    found[0] = 5
    assert found.tolist() == [5, 1, 2, 3]
    assert raw[0] == 0
    odd = memoryview(bytearray(b"x" + raw))[1:]  # whose elements are not aligned
    assert pickle.loads(data, buffers=[odd]).tolist() == [0, 1, 2, 3]
    for short in (b"", raw[:12]):
        with pytest.raises(RuntimeError, match="out of bounds"):
            pickle.loads(data, buffers=[short])


def test_pickled_memory_may_be_given_up() -> None:
    x = ow.arange(4.0)
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(x, 5, buffer_callback=buffers.append)
    x.resize_(1_000_000)
    assert memoryview(buffers[0].raw()).cast("f").tolist() == [0.0, 1.0, 2.0, 3.0]


def test_arrays_beside_tensors() -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(3.0)
    tensor = ow.from_numpy(array)
    found = pickle.loads(pickle.dumps([array, tensor], 5))
    assert found[1].tolist() == found[0].tolist() == [0.0, 1.0, 2.0]
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        tensor = ow.from_numpy(array)
    found = pickle.loads(pickle.dumps(tensor, 5))
    found[0] = 1.0
    assert array[0] == 0.0


@pytest.mark.parametrize(
    ("offset", "sizes", "strides"),
    [(0, (7,), (1,)), (1, (6,), (1,)), (-1, (1,), (1,)), (0, (2, 3), (4, 1)), (5, (2,), (-6,)), (0, (-1,), (1,)),
     (0, (2**62, 2**62), (1, 1)), (2**62, (1,), (1,)), (0, (2,), (2**62,)), (0, (1,) * 65, (1,) * 65),
     (0, (2,), (1, 1))],
)  # fmt: skip
def test_forged_pickles(offset: int, sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
    class Forged:
        def __reduce__(self) -> Any:
            return _rebuild_tensor, (ow.Tensor, ow.arange(6.0).storage(), offset, sizes, strides)

    for protocol in PROTOCOLS:
        with pytest.raises((RuntimeError, ValueError, OverflowError)):
            pickle.loads(pickle.dumps(Forged(), protocol))


def test_generators() -> None:
    generator = ow.Generator().manual_seed(7)
    ow.rand(3, generator=generator)
    for other in (pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator)):
        assert ow.rand(2, generator=other).tolist() == ow.rand(2, generator=generator.clone_state()).tolist()
        assert other.initial_seed() == 7


def test_copies() -> None:
    x = ow.arange(6.0).reshape(2, 3)
    x.note = [1]
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    assert shallow.data_ptr() == x.data_ptr()
    assert shallow.note is x.note
    assert deep.data_ptr() != x.data_ptr()
    assert deep.note == [1]
    first, second = copy.deepcopy([x, x.t()])
    first[0, 1] = 8.0
    assert second[1, 0] == 8.0
    leaf = ow.ones(2, requires_grad=True)
    (leaf * 2).sum().backward()
    assert copy.deepcopy(leaf).grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(leaf * 2)
