"""Functions of the standard made from operators: a signature and a schema say which argument is which.

Within a function tensors are of class Tensor, whatever class they had, and its results are arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from .._base.dtypes import EXPORTS, dtype, get_default_dtype
from .._base.promotion import promote_types
from .._base.sequences import remade
from .._base.tensor_class import Tensor
from .._dispatch.ops import ops
from ._array import Array

_OTHER_NAMES = {
    "axis": ("dim", "dims"),
    "axes": ("dim", "dims"),
    "keepdims": ("keepdim",),
    "k": ("diagonal",),
    "shape": ("size",),
}
"""The names that operators have for arguments that are given by name."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NUMBERS = (bool, int, float, complex)
_BOOL, _INT64 = EXPORTS["bool"], EXPORTS["int64"]


def as_arrays(value: Any) -> Any:
    """Tensors as arrays, those in a tuple or list as well."""
    if isinstance(value, Tensor):
        return value if type(value) is Array else value.as_subclass(Array)
    if isinstance(value, (tuple, list)):
        return remade(type(value), [as_arrays(each) for each in value])
    return value


def as_tensors(value: Any) -> Any:
    """Tensors of derived classes as those of class Tensor, those in a tuple or list as well."""
    if isinstance(value, Tensor):
        return value if type(value) is Tensor else value.as_subclass(Tensor)
    if type(value) in (tuple, list):
        return [as_tensors(each) for each in value] if type(value) is list else tuple(map(as_tensors, value))
    return value


def standard(function: _Function) -> _Function:
    """A function of the standard, of one that computes with tensors."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {name: as_tensors(value) for name, value in kwargs.items()}
        return as_arrays(function(*map(as_tensors, args), **kwargs))

    return cast("_Function", called)


# ---- promotion ----------------------------------------------------------------------------------------------


def promoted(*values: Any) -> list[Any]:
    """Operands of one dtype by the standard's rule: arrays without dimensions count as any other, and numbers of Python
    take the dtype of the arrays, of which there must be one, where its kind holds them."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) == len(values) and len({each.dtype for each in tensors}) == 1:
        return tensors
    if not tensors:
        raise TypeError("at least one argument must be an array, but all of them are numbers of Python")
    common = common_dtype(values)
    where = tensors[0].device
    return [_of_dtype(value, common, where) for value in values]


def _of_dtype(value: Any, wanted: dtype, where: Any) -> Any:
    if isinstance(value, Tensor):
        return value if value.dtype is wanted else value.to(wanted)
    if isinstance(value, _NUMBERS):
        return ops.full((), value, dtype=wanted, device=where)
    return value


def common_dtype(values: Iterable[Any]) -> dtype:
    """The dtype to which arrays, dtypes and numbers of Python promote."""
    given = list(values)
    found: dtype | None = None
    for value in given:
        if isinstance(value, (Tensor, dtype)):
            each = value.dtype if isinstance(value, Tensor) else value
            found = each if found is None else promote_types(found, each)
    if found is None:
        raise ValueError("at least one array or dtype must be given")
    for value in given:
        if isinstance(value, _NUMBERS):
            found = _with_number(found, value)
        elif not isinstance(value, (Tensor, dtype)):
            raise TypeError(f"expected arrays, dtypes and numbers, but got {type(value).__name__}")
    return found


def _with_number(found: dtype, number: Any) -> dtype:
    """The dtype of arrays beside a number of Python, which has none of its own: its kind counts."""
    if isinstance(number, complex):
        return found.to_complex() if found.is_floating_point or found.is_complex else get_default_dtype().to_complex()
    if isinstance(number, float):
        return found if found.is_floating_point or found.is_complex else get_default_dtype()
    return _INT64 if found is _BOOL and not isinstance(number, bool) else found


# ---- functions ----------------------------------------------------------------------------------------------


def elementwise(name: str, operator: str) -> Callable[..., Any]:
    """The function of an operator whose arguments are the tensors of its schema."""
    called = getattr(ops, operator)
    count = sum(types.startswith("Tensor") for types in called.op.types)
    if count == 1:

        def unary(x: Any, /) -> Any:
            return called(x)

        function: Callable[..., Any] = unary
    else:

        def binary(x1: Any, x2: Any, /) -> Any:
            first, second = promoted(x1, x2)
            return called(first, second)

        function = binary
    return _named(function, name, operator)


def of_signature(signature: str, operator: str) -> tuple[str, Callable[..., Any]]:
    """The name and the function of a signature, which calls the operator with the arguments that they are there."""
    name, _, parameters = signature.partition("(")
    called = getattr(ops, operator)
    parameters = parameters.removesuffix(")")
    passed = ", ".join(_passed(called.op.names, parameters))
    namespace: dict[str, Any] = {"called": called}
    exec(f"def function({parameters}):\n    return called({passed})", namespace)  # so that Python binds the arguments
    return name, _named(namespace["function"], name, operator)


def _passed(names: tuple[str, ...], parameters: str) -> list[str]:
    """The arguments of the call: those that come first by position, the others by the names that the operator has."""
    passed: list[str] = []
    by_position = "/" in parameters
    for place, each in enumerate(part.strip() for part in parameters.split(",")):
        name = each.partition("=")[0]
        if name in ("/", "*"):
            by_position = False
        elif by_position:
            passed.append(f"{names[place]}={name}")
        else:
            called = next(other for other in (name, *_OTHER_NAMES.get(name, ())) if other in names)
            passed.append(f"{called}={name}")
    return passed


def _named(function: Callable[..., Any], name: str, operator: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the result of the operator `{operator}` for arrays."
    function.__module__ = "opweave.array_api"
    return standard(function)


def functions(signatures: Mapping[str, str]) -> dict[str, Callable[..., Any]]:
    """Return the functions of a table of signatures, by name."""
    return dict(of_signature(signature, operator) for signature, operator in signatures.items())
