"""opweave.library: operators of your own, and who answers calls of operators.

`custom_op` defines an operator. `register` and `register_fallback` are for tensors that the core does not compute with:
a tensor may carry dispatch keys, as those of a class derived from Tensor do. A call whose tensors carry one goes to the
function that is registered for it, instead of the core. Every such function has one signature:

    function(op, args, out, mode)

`op` names the operator (`op.name`) and its arguments (`op.names`). `args` are the arguments in the order of the schema,
with their defaults. `out` is the tensor, or tuple of tensors, that the result is to be written to, or None. `mode` is
NEW, INPLACE (the argument number `op.target` is overwritten and returned) or OUT. What the function returns is the
result of the call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from shutil import copyfile
from typing import Any, TypeVar

from ._base import devices, package_data
from ._base.devices import device as _device
from ._base.dtypes import dtype as _dtype
from ._base.registered_device import Device
from ._base.tensor_class import Tensor
from ._C import lib
from ._dispatch import dispatcher
from ._dispatch.cpu_fallback import cpu_fallback
from ._dispatch.dispatcher import Handler, call, new_key, redispatch
from ._dispatch.infer import infer, make_results
from ._dispatch.op import INPLACE, NEW, OUT, Op
from ._dispatch.ops import ops
from ._dispatch.overloads import OpOverload
from ._dispatch.pending_checks import remember
from ._dispatch.schemas import schema
from ._handle import describe as _describe
from ._handle import payload as _payload
from ._handle import set_payload as _set_payload
from ._library.custom_op import CustomOpDef, custom_op
from ._library.definition import Definition, definitions, find, waiting_fakes
from ._library.infer_schema import infer_schema
from ._library.libraries import Library, define, impl
from ._library.libraries import _scoped_library as _scoped_library
from ._library.opcheck import OpCheckError, opcheck
from ._library.results import check_result

__all__ = [
    "INPLACE",
    "NEW",
    "OUT",
    "CustomOpDef",
    "Device",
    "Library",
    "OpCheckError",
    "add_key",
    "call",
    "copy_headers",
    "cpu_fallback",
    "custom_op",
    "define",
    "describe",
    "impl",
    "infer",
    "infer_schema",
    "make_results",
    "new_key",
    "opcheck",
    "payload",
    "redispatch",
    "register",
    "register_autograd",
    "register_device",
    "register_fake",
    "register_fallback",
    "register_kernel",
    "set_payload",
]

_Function = TypeVar("_Function", bound=Handler)
_Operator = str | OpOverload | CustomOpDef


def register(operator: _Operator, key: str) -> Callable[[_Function], _Function]:
    """Return a decorator that has a function answer calls of one operator for tensors with a dispatch key.

    Args:
        operator (str): the name of an operator of ops.yaml, such as `"add"` or `"linalg_qr"`; `"add_"` is the same one.
            Or that of a custom operator, such as `"mylib::f"`, or what `opweave.ops` or `custom_op` has given.
        key (str): one of the table in docs/dispatch.md, the name of a registered device, or what `new_key` has added.

    A call raises TypeError, which names the function, if it returns what the schema does not allow.

    Raises:
        ValueError: there is no such operator or key, or the operator has a function for the key.
    """
    op = _op(operator)

    def decorate(function: _Function) -> _Function:
        dispatcher.register(key, _checked(function, key), op)
        return function

    return decorate


def register_fallback(key: str, *, composites: bool = False) -> Callable[[_Function], _Function]:
    """Return a decorator that has a function answer calls of all operators that have none of their own for a key.

    Args:
        key (str): as of `register`.
        composites (bool): also of operators that are made of others. Else these are decomposed, and the function sees
            the calls that they make.

    A call raises TypeError, which names the function, if it returns what the schema does not allow.

    Raises:
        ValueError: there is no such key, or it has a fallback.
    """

    def decorate(function: _Function) -> _Function:
        dispatcher.register(key, _checked(function, key), composites=composites)
        return function

    return decorate


def register_device(device: Device) -> None:
    """Add a kind of device: tensors can be made on it and moved to it, and have a dispatch key of its name.

    Views, moves and `empty` need nothing else. What computes is registered for the key, or `cpu_fallback` is:
    `register_fallback(device.name)(cpu_fallback)`. Checks of values, which are the operator `assert_values`, are made
    when the program waits for the device or copies from it; or at once, if `cpu_fallback` is registered for it.

    Raises:
        ValueError: the name is no identifier or is taken; there are less than 1 or more than 256 devices.
        RuntimeError: there are 8 kinds of devices already.
    """
    dispatcher.register_for_devices(remember, ops.assert_values.op)
    devices.register(device)
    dispatcher.add_device(device.name, device.runs)


def copy_headers(folder: str | os.PathLike[str]) -> None:
    """Copy the headers for functions of C that compute on a device to a folder: `device.h` and what it includes.

    Raises:
        OSError: the folder is not there, or cannot be written to.
    """
    for name, path in package_data.folder("codegen", "include").items():
        target = Path(folder, name)
        target.parent.mkdir(exist_ok=True)
        copyfile(path, target)


def describe(
    size: Sequence[int],
    dtype: _dtype,
    payload: object,
    *,
    key: str,
    stride: Sequence[int] | None = None,
    storage_offset: int = 0,
    device: _device | str = "cpu",
) -> Tensor:
    """Return a tensor without memory, for which what is registered for a dispatch key computes.

    It has a dtype, sizes, strides and a device. Its payload is that of all tensors that share its storage: views,
    results of `detach`, and what the graph saves. Operators that make a tensor like it (`zeros_like`, `new_empty`) go
    to the key as well, as do all others.

    Args:
        size: sizes.
        dtype: dtype of the elements.
        payload: any object, such as the array that has the elements.
        key (str): what `new_key` has added.
        stride: strides in elements; None: contiguous.
        storage_offset (int): position of the first element.
        device: what `device` says.

    Raises:
        ValueError: the key is none that was added.
        RuntimeError: sizes and strides do not make a tensor, or there is no such device.
    """
    if key not in dispatcher.added_keys():
        raise ValueError(f"describe() takes a key that new_key() has added, but got {key!r}")
    where = devices.number_of(devices.available(device))
    steps = None if stride is None else tuple(stride)
    code = _dtype.resolve(dtype, "describe").code
    made: Tensor = _describe(Tensor, code, tuple(size), steps, storage_offset, where, dispatcher.bit_of(key), payload)
    return made


def payload(tensor: Tensor) -> Any:
    """Return the payload of a tensor that `describe` made. Raises TypeError for any other."""
    return _payload(tensor)


def set_payload(tensor: Tensor, payload: object) -> None:
    """Give a tensor that `describe` made, and all that share its storage, another payload: they count as written to."""
    _set_payload(tensor, payload)
    lib.count_write(tensor._h)


def add_key(tensor: Tensor, key: str) -> Tensor:
    """Give a tensor a dispatch key, and return it: calls with it go to what is registered for the key.

    Args:
        key (str): as of `register`.

    Raises:
        ValueError: there is no such key.
    """
    lib.set_keys(tensor._h, lib.keys(tensor._h) | dispatcher.bit_of(key))
    return tensor


def _checked(function: Handler, key: str) -> Handler:
    """The handler, whose results are compared with the schema."""

    @wraps(function)
    def handler(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        result = function(op, args, out, mode)
        if result is not NotImplemented or key not in ("function_mode", "subclass"):
            name = getattr(function, "__name__", repr(function))
            expected = schema(op, mode)
            if op.gives_first_alone(args):
                expected = replace(expected, returns=expected.returns[:1])
            check_result(f"{name}, registered for {op.qualified} and the key {key!r},", expected, result)
        return result

    return handler


def _op(operator: _Operator) -> Op:
    if isinstance(operator, OpOverload):
        return operator.op
    if isinstance(operator, CustomOpDef):
        return operator._definition.op
    if "::" in operator:
        return find(operator).op
    if not hasattr(getattr(ops, operator, None), "op"):
        near = get_close_matches(operator, [name for name, each in vars(ops).items() if hasattr(each, "op")], 1)
        raise ValueError(f"there is no operator {operator!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    op: Op = getattr(ops, operator).op
    return op


# ---- custom operators ---------------------------------------------------------------------------------------


def _definition(operator: _Operator) -> Definition:
    if isinstance(operator, CustomOpDef):
        return operator._definition
    return find(operator.name() if isinstance(operator, OpOverload) else operator)


def register_kernel(op: _Operator, device_types: str | Sequence[str] | None, func: Any = None, /) -> Any:
    """Register the function that computes a custom operator's results for tensors of some devices. A decorator where
    `func` is left out.

    Args:
        op (str): such as `"mylib::f"`, or what `custom_op` has given.
        device_types (str or sequence of str): such as `"cpu"`; None: all that have no function of their own.

    Raises:
        RuntimeError: there is no such operator.
    """
    kinds = "default" if device_types is None else device_types
    return impl(_definition(op).qualified, kinds, func)


def register_fake(op: _Operator, func: Any = None, /) -> Any:
    """Register the function that makes results of the right shape, strides and dtype from tensors on the device `meta`.
    A decorator where `func` is left out. An operator that is not defined yet, named by a text, has the function when it
    is."""

    def decorate(function: Any) -> Any:
        if isinstance(op, str) and "::" in op and op not in definitions:
            waiting_fakes[op] = function
        else:
            _definition(op).fake = function
        return function

    return decorate if func is None else decorate(func)


def register_autograd(
    op: _Operator, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
) -> None:
    """Register a custom operator's gradients, as `CustomOpDef.register_autograd` does.

    Raises:
        RuntimeError: there is no such operator, it writes to its arguments, or its result is a view of them.
    """
    _definition(op).set_formula(backward, setup_context, op)
