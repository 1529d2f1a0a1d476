"""Checks of an operator's results against its schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._base.pytree import flatten
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._C import lib

if TYPE_CHECKING:
    from ..codegen.schema import FunctionSchema, Return

_NUMBERS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "bool": (bool,),
    "float": (float, int),
    "Scalar": (bool, int, float, complex),
}


def check_result(who: str, schema: FunctionSchema, result: Any) -> None:
    """Raises TypeError, which names `who` has returned it, for a result that the schema does not allow."""
    returns = schema.returns
    if not returns:
        if result is not None:
            raise TypeError(f"{who} returned {type_name(result)}, but the schema {schema} has no result")
        return
    if len(returns) == 1:
        if not _fits(returns[0], result):
            raise TypeError(_refusal(who, schema, returns[0], result))
        return
    if not isinstance(result, (tuple, list)) or len(result) != len(returns):
        count = f" of {len(result)}" if isinstance(result, (tuple, list)) else ""
        got = f"{type_name(result)}{count}"
        raise TypeError(f"{who} returned {got}, but the schema {schema} has {len(returns)} results")
    for place, (each, value) in enumerate(zip(returns, result, strict=True)):
        if not _fits(each, value):
            raise TypeError(_refusal(who, schema, each, value, f" as result {place}"))


def _refusal(who: str, schema: FunctionSchema, expected: Return, value: Any, place: str = "") -> str:
    return f"{who} returned {type_name(value)}{place}, but the schema {schema} says {expected.type}"


def _fits(expected: Return, value: Any) -> bool:
    if expected.is_tensor_list:
        return isinstance(value, (tuple, list)) and all(isinstance(each, Tensor) for each in value)
    kind = str(expected.type)
    if kind.endswith("?") and value is None:
        return True
    return isinstance(value, _NUMBERS.get(kind.rstrip("?"), (Tensor,) if kind.startswith("Tensor") else (object,)))


def tensors_in(*values: Any) -> list[Any]:
    """The tensors in nested lists, tuples and dictionaries."""
    return [each for each in flatten(values)[0] if isinstance(each, Tensor)]


def check_aliases(name: str, module: Any, arguments: Sequence[Any], result: Any) -> None:
    """Raises RuntimeError if results share memory with arguments or with one another."""
    taken = {lib.storage_of(each._h) for each in tensors_in(arguments)}
    for each in tensors_in(result):
        storage = lib.storage_of(each._h)
        if storage in taken:
            raise RuntimeError(
                f"{name} (with implementation in {module}): The output of this custom operator (1) must not also be an "
                "input to this custom operator and (2) may not alias any inputs to this custom operator or other "
                "returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the "
                "same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) "
                "or refactor the custom operator to not return y."
            )
        taken.add(storage)
