"""Every operator reaches the handler of a dispatch key with arguments in schema order, and touches no memory before.

The tensors lie over memory that may not be read, so whatever looks at an element ends the process.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from typing import Any

import opweave
import pytest
from harness.processes import python, succeed
from opweave._base.handles import wrap
from opweave._C import lib
from opweave._dispatch import dispatcher
from opweave._dispatch.op import INPLACE, NEW, OUT, Op
from opweave._dispatch.ops import ops
from opweave._dispatch.overloads import as_called, function_of
from opweave._handle import over_memory

KEY = "guarded"
if KEY not in dispatcher.KEYS:
    dispatcher.new_key(KEY, after="quantized")
ANSWER = object()
GUARDED = mmap.PAGESIZE

OPERATORS = sorted({each.op.name: each.op for each in vars(ops).values() if hasattr(each, "op")}.items())
OF_TENSORS = [op for _, op in OPERATORS if any(types.startswith("Tensor") for _, _, types in op.params)]


@pytest.fixture(autouse=True)
def calls() -> Iterator[list[tuple[Op, Any, Any, int]]]:
    """The calls that the handler has seen."""
    seen: list[tuple[Op, Any, Any, int]] = []

    def handler(op: Op, args: Any, out: Any, mode: int) -> Any:
        seen.append((op, tuple(args), out, mode))
        return ANSWER

    dispatcher.register(KEY, handler)
    yield seen
    dispatcher.unregister(KEY)


def guarded() -> Any:
    """A tensor of four elements whose memory may not be read, with the key."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = libc.mmap(None, GUARDED, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    tensor = wrap(over_memory(libc, address, 32, (2, 2), (2, 1), opweave.float64.code, False))
    lib.set_keys(tensor._h, dispatcher.KEYS[KEY])
    return tensor


VALUES = {
    "Scalar": 2.0, "int[": (1,), "int": 1, "float": 0.5, "bool": True, "str": "sum", "placement": None,
    "dtype": opweave.float64, "MemoryFormat": opweave.channels_last,
}  # fmt: skip


def value(op: Op, place: int, tensor: Any) -> Any:
    """A value for an argument that is required."""
    types = op.params[place][2]
    if "Tensor" in types or types == "any":
        return [tensor, tensor] if "Tensor[" in types else tensor
    return next(each for name, each in VALUES.items() if types.startswith(name))


def arguments(op: Op, tensor: Any) -> tuple[Any, ...]:
    """Values for all arguments: those that are required, any tensors, and else the defaults."""
    return tuple(
        value(op, place, tensor) if default is ... or (place == 0 and "Tensor" in types) else default
        for place, (default, (_, _, types)) in enumerate(zip(op.defaults, op.params, strict=True))
    )


def called(op: Op, function: Any, given: tuple[Any, ...], **out: Any) -> Any:
    named = dict(zip(op.names[op.positional :], given[op.positional :], strict=True))
    return function(*given[: op.positional], **named, **out)


@pytest.mark.parametrize("op", OF_TENSORS, ids=[op.name for op in OF_TENSORS])
def test_operator(op: Op, calls: list[Any]) -> None:
    tensor = guarded()
    given = arguments(op, tensor)
    if not any(each is tensor or (isinstance(each, list) and each[0] is tensor) for each in given):
        pytest.skip("its tensors are optional")
    mode = INPLACE if op.name.endswith("_") else NEW
    assert called(op, op.function, given) is ANSWER
    assert len(calls) == 1
    seen, args, out, how = calls[0]
    assert (seen, out, how) == (op, None, mode)
    assert len(args) == len(op.names)
    assert all(each is expected or each == expected for each, expected in zip(args, given, strict=True))


@pytest.mark.parametrize("op", [op for op in OF_TENSORS if op.out], ids=lambda op: op.name)
def test_out(op: Op, calls: list[Any]) -> None:
    target = guarded()
    result = (target, target) if op.results else target
    given = arguments(op, opweave.ones(2, 2))
    assert called(op, op.function, given, out=result) is ANSWER
    assert (calls[0][0], calls[0][2], len(calls)) == (op, result, 1)
    assert calls[0][3] in (NEW, OUT)


def test_in_place(calls: list[Any]) -> None:
    tensor = guarded()
    functions = {name: each for name, each in vars(ops).items() if getattr(each, "form", 0) == 1}
    assert len(functions) > 100
    for name, function in functions.items():
        op = function.op
        given = arguments(op, tensor)
        given = (*given[: op.target], tensor, *given[op.target + 1 :])
        calls.clear()
        assert called(op, function, given) is ANSWER, name
        assert [(each[0], each[3]) for each in calls] == [(op, INPLACE)], name
        positional, named = as_called(op, calls[0][1], None, INPLACE)
        assert function_of(op, INPLACE)(*positional, **named) is ANSWER, name
        assert all(each is other or each == other for each, other in zip(calls[1][1], calls[0][1], strict=True)), name


@pytest.mark.parametrize("op", OF_TENSORS, ids=[op.name for op in OF_TENSORS])
def test_a_call_can_be_made_again(op: Op, calls: list[Any]) -> None:
    """What classes and modes are given of a call are arguments of the same one."""
    tensor = guarded()
    known = ("Tensor", "any", *VALUES)
    every = tuple(
        value(op, place, tensor) if any(name in types for name in known) else default
        for place, (default, (_, _, types)) in enumerate(zip(op.defaults, op.params, strict=True))
    )
    for given in (arguments(op, tensor), every):
        calls.clear()
        try:
            called(op, op.function, given)
        except (TypeError, RuntimeError):
            continue  # a value that has to be one of some texts, or a class
        for op_called, args, out, mode in calls[:1]:
            positional, named = as_called(op_called, args, out, mode)
            calls.clear()
            assert function_of(op_called, mode)(*positional, **named) is ANSWER
            assert len(calls) == 1
            assert calls[0][0] is op_called
            assert all(each is other or each == other for each, other in zip(calls[0][1], args, strict=True))


def test_operators_of_python(calls: list[Any]) -> None:
    tensor = guarded()
    for result in (tensor + 1, 1 + tensor, tensor @ tensor, -tensor, tensor == 2, tensor**2, 2**tensor, ~tensor):
        assert result is ANSWER
    names = ["add", "add", "matmul", "neg", "eq", "pow", "pow", "bitwise_not"]
    assert [each[0].name for each in calls] == names


def test_without_a_handler() -> None:
    dispatcher.unregister(KEY)
    with pytest.raises(NotImplementedError, match=r"add\(\) has no implementation for guarded tensors; register"):
        guarded() + 1


def test_a_handler_goes_on_below_its_key() -> None:
    def handler(op: Op, args: Any, out: Any, mode: int) -> Any:
        return dispatcher.redispatch(op, [7 if type(each) is int else each for each in args], out, mode, below=KEY)

    tensor = opweave.ones(2)
    lib.set_keys(tensor._h, dispatcher.KEYS[KEY])
    dispatcher.register(KEY, handler, ops.mul.op)
    assert (tensor * 5).tolist() == [7.0, 7.0]
    dispatcher.unregister(KEY, ops.mul.op)


def test_a_composite_without_a_handler_is_decomposed() -> None:
    names = []

    def handler(op: Op, args: Any, out: Any, mode: int) -> Any:
        names.append(op.name)
        return dispatcher.redispatch(op, args, out, mode, below=KEY)

    dispatcher.unregister(KEY)
    dispatcher.register(KEY, handler, composites=False)
    tensor = opweave.ones(2, 2)
    lib.set_keys(tensor._h, dispatcher.KEYS[KEY])
    opweave.linalg.vector_norm(tensor)
    assert "linalg_vector_norm" not in names
    assert names


def test_memory_that_may_not_be_read_ends_a_process() -> None:
    """The guard of these tests is one."""
    begin = f"import sys; sys.path[:0] = {sys.path!r}; from test_handlers import guarded, lib; t = guarded()"
    succeed(python("-c", begin))
    assert python("-c", f"{begin}; lib.set_keys(t._h, 0); t.sum()").returncode < 0
