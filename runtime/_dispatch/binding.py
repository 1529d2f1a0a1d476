"""Calls whose arguments are not yet in schema order, or not those of the operator that is meant.

The core binds what is given by the names and in the order of the schema (core/python/operator_function.c). What remains
is here: NumPy's names, lists given one by one, arguments that stand for another operator (`div(rounding_mode=)`), and
the errors of calls that fit no signature. Then the call goes to the dispatcher.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any

from .._base import interchange
from .._base.dtypes import dtype
from .._base.errors import take_pending
from .._base.generator import Generator
from .._base.lazy_imports import load
from .._base.promotion import common_dtype
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import memory_format
from .._base.warn import warn
from .._handle import keys as keys_of
from .._handle import set_slow_path
from .check import READERS, WRONG, is_operand
from .dispatcher import KEYS, call
from .old_orders import in_old_order
from .op import FORMS, MODES, Op
from .ops import ops
from .subclass import overloaded_arguments, takes_part
from .torch_dispatch import dispatches_not

if TYPE_CHECKING:
    from inspect import Signature

_FUNCTION_KEYS = KEYS["subclass"] | KEYS["function_mode"]

overloads: dict[str, Any] = {}
"""The functions that see the arguments of a view first, by its name; NotImplemented leaves them to the operator."""

numpy_forms: dict[str, Any] = {}
"""The functions that see arguments which the schema does not have, but NumPy's function of this name or torch's other
overloads, by the name of the operator."""

name_reader: Any = None
"""The check of the argument `names` of functions that make tensors, before one is made: name_reader(function,
names)."""

_IN_PLACE = FORMS["in_place"]
_OTHER_NAMES = {
    "axis": "dim",
    "axes": "dims",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
    "split_size": "split_size_or_sections",
    "split_sizes": "split_size_or_sections",
    "tensor": "input",
    "indices": "indices_or_sections",
    "sections": "indices_or_sections",
    "tensor_indices_or_sections": "indices_or_sections",
}
"""NumPy's names of arguments, which torch takes wherever it has such an argument, torch's own of one, and those of its
overloads that are one operator here. They count where an operator has no argument of the name itself."""


# ---- bound arguments ----------------------------------------------------------------------------------------


def bound(function: Any, args: tuple[Any, ...], out: Any) -> Any:
    """A call whose arguments are in schema order."""
    op: Op = function.op
    other = _other_operator(op, args, out, function.form == _IN_PLACE)
    if other is not NotImplemented:
        return other
    result = call(op, args, out, MODES[function.form])
    if result is NotImplemented:
        raise TypeError(_declined(function, args, out))
    return result


def public_name(function: Any) -> str:
    """The name under which users find a function or method."""
    module = function.op.module.removesuffix("._operators")
    return f"{module}.{'Tensor.' if function.form == _IN_PLACE else ''}{function.__name__}"


def _declined(function: Any, args: tuple[Any, ...], out: Any) -> str:
    classes = "".join(f"\n  - tensor subclass {type(each)}" for each in overloaded_arguments((*args, out)))
    return (
        f"Multiple dispatch failed for '{public_name(function)}'; all __torch_function__ handlers returned "
        f"NotImplemented:\n{classes}"
    )


def _other_operator(op: Op, args: tuple[Any, ...], out: Any, in_place: bool) -> Any:
    """The result of the operator that the arguments stand for; NotImplemented where it is this one, and where it is for
    `__torch_function__`, which is told what was called."""
    if op.delegates and keys_of(args, out) & _FUNCTION_KEYS:
        return NotImplemented
    for name, options in op.choices.items():
        place = op.names.index(name)
        default = op.defaults[place]
        if args[place] != default:
            chosen = _choice(op, name, args[place], default, options)
            rest = [value for other, value in zip(op.names, args, strict=True) if other != name]
            return getattr(ops, f"{chosen}_")(*rest) if in_place else getattr(ops, chosen)(*rest, out=out)
    if (chosen := _chosen_by_tensor(op, args)) is not None:
        return chosen(*args)
    if op.pairwise is not None and isinstance(args[1], Tensor):
        return getattr(ops, op.pairwise)(args[0], args[1], out=out)
    if op.pairwise is not None and args[1] is None and args[2] is not False:
        raise TypeError(f"{op.name}() received an invalid combination of arguments: 'keepdim' without 'dim'")
    if op.name in overloads and isinstance(args[0], Tensor):
        return overloads[op.name](*args)
    return NotImplemented


def _chosen_by_tensor(op: Op, args: tuple[Any, ...]) -> Any:
    """The function that a tensor in the place of another argument asks for, if there is one."""
    if op.by_tensor is None:
        return None
    argument, chosen = op.by_tensor
    place = op.names.index(argument)
    return getattr(ops, chosen) if len(args) > place and isinstance(args[place], Tensor) else None


def _choice(op: Op, name: str, text: Any, default: Any, options: Mapping[str, str]) -> str:
    """The operator that a text other than the default stands for."""
    if not isinstance(text, str):
        raise TypeError(f"{op.name}(): argument '{name}' must be str, not {type_name(text)}")
    if text not in options:
        *most, last = [repr(each) for each in (default, *options)]
        raise RuntimeError(f"{op.name} expected {name} to be one of {', '.join(most)}, or {last} but found '{text}'")
    return options[text]


# ---- arguments as they were given ---------------------------------------------------------------------------


def unbound(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A call whose arguments the core could not bind."""
    op: Op = function.op
    in_place = function.form == _IN_PLACE
    if op.alone is not None and len(args) + len(named) == 1 and not in_place and not function.leads:
        return op.alone(*args, **named)
    if op.name in numpy_forms and not in_place:
        other = numpy_forms[op.name](*args, **named)
        if other is not NotImplemented:
            return other
    if (chosen := _chosen_by_tensor(op, args)) is not None:
        return chosen(*args, **named)
    by_name = in_old_order(op, function.__name__, args, named)
    if by_name is not None:
        return function(**by_name)
    if op.inplace_argument and not in_place and ("inplace" in named or len(args) > op.positional):
        return _with_inplace(function, args, named)
    if op.separate is not None and op.separate not in named:
        args = _separate(op, args)
    extra = {name: named.pop(name) for name in _extra_arguments(op, in_place) if name in named}
    names = name_reader(op.name, extra["names"]) if extra.get("names") is not None else None
    if op.single and op.separate is not None and args and isinstance(args[0], Tensor):
        return function((args[0],), **named)[0]
    values = _bind(function, args, named)
    out = named.pop("out", None)
    if extra.get("other") is not None:
        return _with_other(op, values, extra["other"], out)
    result = bound(function, values, out)
    if names is not None:
        result.names = names
    return result.requires_grad_() if extra.get("requires_grad") else result


def _separate(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Integers or tensors given one by one become the list that the schema has."""
    assert op.separate is not None
    place = op.names.index(op.separate)
    types = op.types[place]
    rest = args[place:]
    if types.startswith("int"):
        is_first = bool(rest) and READERS["int"](rest[0]) is not WRONG
        is_first = is_first or (len(rest) > 1 and takes_part(rest[0]))
        if len(rest) > 1 and not is_first:
            raise TypeError(f"{op.name}() takes 1 positional argument but {len(rest)} were given")
        return (*args[:place], rest) if is_first else args
    first = rest[0] if len(rest) == 1 else None
    if isinstance(first, (tuple, list)) and (not first or isinstance(first[0], Tensor)):
        return args
    if op.single and len(rest) == 1:
        return args
    return (*args[:place], rest) if len(args) >= place else args


def _extra_arguments(op: Op, in_place: bool) -> dict[str, Any]:
    """The defaults of arguments that are no part of the schema, by their names."""
    extra: dict[str, Any] = {} if op.pairwise is None else {"other": None}
    if not in_place and (op.family == "factory" or "placement" in op.types):
        extra["requires_grad"] = False
        if not any(types.startswith("Tensor") for types in op.types):
            extra["names"] = None
    return extra


def _with_inplace(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """`relu(x, True)`: `inplace` comes after the arguments of the schema."""
    op: Op = function.op
    given = list(args[op.positional :])
    if "inplace" in named:
        given.append(named.pop("inplace"))
    if len(given) > 1:
        raise TypeError(f"{op.name}() takes {op.positional + 1} positional arguments but more were given")
    return (getattr(ops, f"{op.name}_") if given[0] else function)(*args[: op.positional], **named)


def _with_other(op: Op, values: tuple[Any, ...], other: Any, out: Any) -> Any:
    """`max(x, other=y)`: an operator of two tensors."""
    if values[1] is not None or not (isinstance(other, Tensor) or takes_part(other)):
        expected = "None where 'dim' is given" if values[1] is not None else "Tensor"
        raise TypeError(f"{op.name}(): argument 'other' must be {expected}, not {type_name(other)}")
    assert op.pairwise is not None
    return getattr(ops, op.pairwise)(values[0], other, out=out)


def _bind(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments in schema order; takes all but `out` out of `named`."""
    op: Op = function.op
    name, has_out = function.__name__, len(function.names) > len(op.names)
    if len(args) > op.positional:
        raise TypeError(f"{name}() takes {op.positional} positional arguments but {len(args)} were given")
    values = dict(zip(_positional(function), args, strict=False))
    for given in [given for given in named if given != "out" or not has_out]:
        value = named.pop(given)
        if given in op.numbers.values() and given not in op.names:
            given, value = _number(op, given, value, values, named)
        argument = given if given in op.names else _OTHER_NAMES.get(given, given)
        if argument not in op.names:
            raise TypeError(f"{name}() got an unexpected keyword argument '{given}'")
        if argument in values:
            twice = f"argument '{argument}'" if argument == given else f"'{argument}', also called '{given}'"
            raise TypeError(f"{name}() got multiple values for {twice}")
        values[argument] = value
    if op.bounds and list(values) == [op.names[0], op.bounds[0]]:
        values = {op.names[0]: values[op.names[0]], op.bounds[0]: 0, op.bounds[1]: values[op.bounds[0]]}
    missing = [each for place, each in enumerate(op.names) if each not in values and op.defaults[place] is ...]
    if missing:
        listed = ", ".join(f'"{each}"' for each in missing)
        raise TypeError(f"{name}() missing {len(missing)} required positional arguments: {listed}")
    return tuple([values.get(each, op.defaults[place]) for place, each in enumerate(op.names)])


def _positional(function: Any) -> list[str]:
    """The names of the arguments in the order in which they are given: a method's own tensor leads."""
    names = list(function.op.names)
    names.insert(0, names.pop(function.leads))
    return names


def _number(op: Op, given: str, value: Any, values: dict[str, Any], named: dict[str, Any]) -> tuple[str, Any]:
    """A number that is given by its own name in the place of a tensor."""
    replaced = next(tensor for tensor, number in op.numbers.items() if number == given)
    if replaced in values or replaced in named:
        raise TypeError(f"{op.name}(): '{replaced}' and '{given}' exclude one another")
    if isinstance(value, Tensor):
        if value.ndim:
            raise TypeError(f"{op.name}(): argument '{given}' must be Number, not {type_name(value)}")
        value = value.item()
    return replaced, value


# ---- operators of Python ------------------------------------------------------------------------------------


def operands(function: Any, left: Any, right: Any) -> Any:
    """`left + right`: arrays are operands too, and other classes get their turn."""
    op: Op = function.op
    both = _operands(left, right)
    if both is None:
        return NotImplemented
    if op.is_composite:  # a product of tensors alone
        if not all(isinstance(each, Tensor) or takes_part(each) for each in both):
            return NotImplemented
        if both[0] is not left or both[1] is not right:
            common = common_dtype(both[0]._h, both[1]._h)
            both = (both[0].to(common), both[1].to(common))
    rest = [op.defaults[place] for place in range(2, len(op.names))]
    return call(op, (*both, *rest), None, MODES[function.form])


def _operands(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Arrays as tensors; None where one operand is of a class that may implement the operator."""
    first, second = _operand(left, right), _operand(right, left)
    return None if first is None or second is None else (first, second)


def _operand(value: Any, other: Any) -> Any:
    is_one = takes_part(value) or (is_operand(value) and not interchange.is_array(value))
    return value if is_one else interchange.operand(value, other)


# ---- what users read about a function -----------------------------------------------------------------------


def describe(function: Any, what: str) -> Any:
    """`__doc__`, `__module__` or `__signature__` of a function."""
    op: Op = function.op
    if what == "module":
        return op.module if op.schema is None else f"opweave.ops.{op.namespace}"
    if what == "signature":
        return _signature(function)
    if function.__name__ != op.called and not function.__name__.startswith("__"):
        return f"In-place version of `{op.called}`."
    return None if op.schema is not None else import_module(f"{op.package}._docstrings").DOCSTRINGS.get(op.name)


def _signature(function: Any) -> Signature:
    op: Op = function.op
    inspect = load("inspect")
    kinds = inspect.Parameter
    parameters = []
    for place, name in enumerate(_positional(function)):
        default = None if op.numbers.get(name, name) != name else op.defaults[op.names.index(name)]
        kind = kinds.POSITIONAL_OR_KEYWORD if place < op.positional else kinds.KEYWORD_ONLY
        parameters.append(kinds(name, kind, default=kinds.empty if default is ... else default))
    in_place = function.form == _IN_PLACE
    if op.inplace_argument and not in_place:
        parameters.append(kinds("inplace", kinds.POSITIONAL_OR_KEYWORD, default=False))
    added = {number: None for tensor, number in op.numbers.items() if number != tensor}
    added |= {"out": None} if len(function.names) > len(op.names) else {}
    added |= _extra_arguments(op, in_place)
    parameters += [kinds(name, kinds.KEYWORD_ONLY, default=default) for name, default in added.items()]
    parameters.sort(key=lambda parameter: parameter.kind)
    signature: Signature = inspect.Signature(parameters)
    return signature


set_slow_path(
    bound, unbound, operands, describe, take_pending, warn, takes_part, dispatches_not, dtype, Generator, memory_format,
    MethodType,
)  # fmt: skip
