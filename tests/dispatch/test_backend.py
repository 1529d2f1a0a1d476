"""A backend of one handler: every operator works for tensors whose memory the core may not touch.

Their elements lie in tensors of the CPU, by which the handler computes. Composites are decomposed, so what they are
made of has to reach the handler; whatever looks at memory itself ends the process.
"""

from __future__ import annotations

import copy
import ctypes
import io
import itertools
import mmap
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import opweave
import pytest
from harness.documented import OPERATORS, calls_of
from opweave._base.handles import wrap
from opweave._C import lib
from opweave._dispatch import dispatcher
from opweave._dispatch.op import INPLACE, Op
from opweave._handle import over_memory

KEY = "cuda"
ROOM = 1 << 40
"""Bytes of addresses that may not be read."""


def reserved() -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    unbacked = 0x4000  # MAP_NORESERVE
    address: int = libc.mmap(None, ROOM, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | unbacked, -1, 0)
    return address


ADDRESSES = itertools.count(reserved(), 1 << 20)
elements: dict[int, Any] = {}
"""By the address of a tensor's memory, the tensor of the CPU that holds its elements."""


def hidden(value: Any) -> Any:
    """Tensors of the CPU as those of the backend, in sequences too."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)([*map(hidden, value)])
    if isinstance(value, (tuple, list)) and not isinstance(value, opweave.Size):
        return type(value)(map(hidden, value))
    if not isinstance(value, opweave.Tensor) or address(value) in elements:
        return value
    nbytes = value.itemsize * (1 + sum((n - 1) * step for n, step in zip(value.shape, value.stride(), strict=True)))
    geometry = (tuple(value.shape), value.stride(), value.dtype.code)
    tensor = wrap(over_memory(None, next(ADDRESSES), max(nbytes, 1), *geometry, False))
    lib.set_keys(tensor._h, dispatcher.KEYS[KEY])
    elements[address(tensor)] = value
    return tensor


def address(tensor: Any) -> int:
    return int(lib.storage_data(lib.storage_of(tensor._h)))


def shown(value: Any) -> Any:
    if isinstance(value, (tuple, list)) and not isinstance(value, opweave.Size):
        return [*map(shown, value)]
    return elements.get(address(value), value) if isinstance(value, opweave.Tensor) else value


def backend(op: Op, args: Any, out: Any, mode: int) -> Any:
    result = dispatcher.call(op, shown(args), None if out is None else shown(out), mode)
    if mode == INPLACE:
        return args[op.target]
    return hidden(result) if out is None else out


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    dispatcher.register(KEY, backend, composites=False)
    yield
    dispatcher.unregister(KEY)
    elements.clear()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_example(name: str) -> None:
    call = calls_of(OPERATORS[name])[-1]
    opweave.manual_seed(0)
    want = call()
    opweave.manual_seed(0)
    got = replace(call, values={name: hidden(value) for name, value in call.values.items()})()
    if "empty" in name:  # the elements are not determined
        assert [each.shape for each in (got, shown(got))] == [want.shape] * 2
    else:
        assert described(shown(got)) == described(shown(want))


def described(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(described, value)]
    return repr(value) if isinstance(value, opweave.Tensor) else value


def test_values() -> None:
    tensor = hidden(opweave.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert tensor.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (tensor[1, 0].item(), bool(tensor[0, 0]), float(tensor[1, 1])) == (3.0, True, 4.0)
    tensor[0] = 7
    tensor[opweave.tensor([1])] = opweave.tensor([8.0, 9.0])
    assert tensor.tolist() == [[7.0, 7.0], [8.0, 9.0]]
    assert repr(tensor) == "tensor([[7., 7.],\n        [8., 9.]])"


def test_memory_is_not_given_away() -> None:
    tensor = hidden(opweave.ones(2))
    with pytest.raises(TypeError, match="the memory of a cuda tensor does not hold its elements"):
        tensor.numpy()
    with pytest.raises(BufferError, match="the memory of a cuda tensor does not hold its elements"):
        tensor.__dlpack__()
    for reads in (
        opweave.Tensor.storage,
        opweave.Tensor.untyped_storage,
        opweave.Tensor.share_memory_,
        pickle.dumps,
        lambda each: opweave.save(each, io.BytesIO()),
        lambda each: opweave.save({"x": [each]}, io.BytesIO(), _use_new_zipfile_serialization=False),
    ):
        with pytest.raises(NotImplementedError, match="Cannot access storage of a tensor with the dispatch key 'cuda'"):
            reads(tensor)


def test_deep_copies_are_the_backend_s() -> None:
    tensor = hidden(opweave.tensor([1.0, 2.0])).requires_grad_()
    copied = copy.deepcopy(tensor)
    assert copied.requires_grad
    assert copied.is_leaf
    tensor.data[0] = 5.0
    assert shown(copied).tolist() == [1.0, 2.0]


def test_gradients() -> None:
    tensor = hidden(opweave.tensor([1.0, 2.0])).requires_grad_()
    (tensor[:1].exp() * opweave.stack([tensor, tensor])).sum().backward()
    assert shown(tensor.grad).tolist() == pytest.approx([2 * 2.718282 * 4, 2 * 2.718282])
