"""Rules on an entry's schema: arguments and results of each family, and names that generated code cannot use."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..model.operator import MAX_OPERANDS, MAX_OUTPUTS, MAX_PARAMS, Family
from ..model.variants import PLACEMENT
from ..schema import Argument, SchemaKind, base_name
from ..source import Mapping as MappingNode
from .fields import Entry
from .reserved import argument_reason, operator_reason


@dataclass(frozen=True)
class _Fixed:
    """Arguments of a family that are known by their names: `needed` ones are required, `possible` ones are not."""

    needed: tuple[str, ...]
    possible: tuple[str, ...]
    example: str


_FIXED: Mapping[Family, _Fixed] = {
    Family.REDUCE: _Fixed(("self", "dim", "keepdim"), ("dtype",), "Tensor self, int[1]? dim=None, bool keepdim=False"),
    Family.SCAN: _Fixed(("self", "dim"), ("dtype",), "Tensor self, int dim, *, ScalarType? dtype=None"),
}
_WITHOUT_LISTS = (Family.ELEMENTWISE, Family.ROWS, Family.FOLD, Family.LOOP)
_WITH_LISTS = "expressions over indices take lists: compute: {'value[...]': 'self[...] * n[0]'}"
_WITH_RESULTS = (Family.ELEMENTWISE, Family.FOLD, Family.ROWS, Family.LOOP)
_TYPES: Mapping[str, str] = {"self": "Tensor", "dim": "int", "keepdim": "bool", "dtype": "ScalarType"}


_CALLED = {
    "int": "int", "SymInt": "int", "bool": "int", "str": "int", "int[]": "int[]", "SymInt[]": "int[]", "float": "float",
}  # fmt: skip
"""The types in which arguments reach the core; bool and text are passed as integers."""


@dataclass(frozen=True)
class _Kinds:
    """The arguments that a family takes: what messages say, what an argument is that suits, and how many of each type
    calls of the core take, where these have arguments of their own."""

    text: str
    suit: Callable[[Argument], bool]
    room: Mapping[str, int] = field(default_factory=dict)


def meanings(entry: Entry) -> Mapping[str, str]:
    """Return what `args` says about arguments: a phrase for each, without a full stop."""
    node = entry.node.get("args")
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        entry.report(
            node.span, "'args' must be a mapping of arguments to what they mean", "args: {k: number of values}"
        )
        return {}
    names = [each.name for each in entry.schema.arguments]
    found = {}
    for key, _ in node.items:
        text = entry.text(node, key.value)
        if text is not None and entry.known("argument", key, names):
            if text.value.rstrip().endswith("."):
                entry.report(text.span, "a phrase about an argument has no full stop: the docstring adds it")
            found[key.value] = " ".join(text.value.split())
    return found


def check(entry: Entry) -> None:
    """Report everything in the schema that this family does not allow."""
    _check_names(entry)
    _check_result(entry)
    _check_result_names(entry)
    if entry.family not in (Family.COMPOSITE, Family.FACTORY, Family.CORE):
        _check_groups(entry)
    if entry.family is not Family.COMPOSITE:
        _check_kinds(entry)
        _check_numbers(entry)


def _check_names(entry: Entry) -> None:
    name = entry.schema.name
    reason = operator_reason(name.identifier)
    if name.namespace:
        entry.report(entry.func.span_at(0, len(name.namespace)), "an operator has no namespace here", "leave it out")
    elif reason is not None:
        entry.report(entry.func.span_at(name.offset, len(name.identifier)), f"operator '{name.identifier}' {reason}")
    has_self = entry.schema.self_argument is not None
    for argument in entry.schema.arguments:
        reason = argument_reason(argument.name, Family.COMPOSITE if _is_python(entry, argument) else entry.family)
        if argument.name == "input" and has_self:
            reason = "is what 'self' is called in the function"
        if reason is not None:
            entry.report(entry.argument_name_span(argument), f"argument '{argument.name}' {reason}", "rename it")
    known = [argument.name for argument in entry.schema.arguments]
    for word in entry.words("unused"):
        entry.known("argument", word, known)


def _check_groups(entry: Entry) -> None:
    for argument in {each.group: each for each in entry.schema.arguments if each.group}.values():
        message = f"'{argument.group}' has no meaning for {entry.family.title}"
        entry.report(entry.argument_span(argument), message, "only for factory and composite, which make new tensors")


def _is_python(entry: Entry, argument: Argument) -> bool:
    """True if the argument occurs in no expression."""
    integral = base_name(argument.type) in ("int", "SymInt")
    return entry.family is Family.RANDOM or (entry.family is Family.FACTORY and integral)


def _check_result(entry: Entry) -> None:
    returns = entry.schema.returns
    if entry.family is Family.CORE and entry.schema.kind is SchemaKind.INPLACE:
        return
    if entry.family is Family.RANDOM:
        if entry.schema.kind is not SchemaKind.INPLACE:
            message = "a random body is written as the in-place form"
            entry.report(entry.name_span, message, "name_(Tensor(a!) self, ...) -> Tensor(a!)")
        return
    listed = entry.family is Family.COMPOSITE and len(returns) == 1 and returns[0].is_tensor_list
    several = entry.family.several and returns and all(each.is_tensor and each.alias is None for each in returns)
    if entry.family is Family.COMPOSITE and len(returns) > 1 and (not several or any(each.name for each in returns)):
        _check_named(entry)
        return
    if listed or several or (len(returns) == 1 and returns[0].is_tensor):
        if returns[0].alias is not None and entry.family not in (Family.VIEW, Family.COMPOSITE):
            span = entry.func.span_at(returns[0].offset, len(str(returns[0])))
            entry.report(span, "only the result of a view shares memory", "write it as '-> Tensor'")
        return
    if entry.family is Family.COMPOSITE and entry.schema.returns_value:
        return
    if returns:
        wrong = returns[min(1, len(returns) - 1)]
        span = entry.func.span_at(wrong.offset, len(str(wrong)))
    else:
        span = entry.func.span_at(len(entry.func.value.rstrip()) - 2, 2)
    entry.report(span, "an operator returns one Tensor", "write it as '-> Tensor'")


def _check_result_names(entry: Entry) -> None:
    """Check the names of several results, which become fields of a named tuple."""
    for result in entry.schema.returns if len(entry.schema.returns) > 1 else ():
        if result.name is not None and (keyword.iskeyword(result.name) or result.name.startswith("_")):
            span = entry.func.span_at(result.offset, len(str(result)))
            reason = "starts with '_'" if result.name.startswith("_") else "is a Python keyword"
            entry.report(span, f"result '{result.name}' {reason}", "rename it")


def _check_named(entry: Entry) -> None:
    """Check that several results are tensors with names; results of a composite may be lists of tensors."""
    for result in entry.schema.returns:
        listed = result.is_tensor_list and entry.family is Family.COMPOSITE
        if not (result.is_tensor or listed) or result.name is None:
            span = entry.func.span_at(result.offset, len(str(result)))
            entry.report(span, "one of several results is a Tensor with a name", "(Tensor values, Tensor indices)")


# ---- kinds --------------------------------------------------------------------------------------------------


def _check_kinds(entry: Entry) -> None:
    if entry.family in _FIXED:
        _check_fixed(entry, _FIXED[entry.family])
        return
    if entry.family is Family.VIEW:
        first = entry.schema.positional[0] if entry.schema.positional else None
        if first is None or first.name != "self" or not first.is_tensor or first.is_optional:
            span = entry.name_span if first is None else entry.argument_span(first)
            entry.report(span, "the first argument of a view is the Tensor 'self'", "Tensor(a) self")
        elif not entry.schema.returns_alias:
            message = "the schema of a view must say that it shares memory"
            entry.report(entry.argument_span(first), message, "Tensor(a) self ... -> Tensor(a)")
    kinds = _KINDS.get(entry.family, _OPERANDS)
    first_other = 1 if entry.family is Family.VIEW else 0
    for argument in entry.schema.arguments[first_other:]:
        if argument.group is None and not kinds.suit(argument):
            message = f"{entry.family.title} takes {kinds.text} arguments, not {argument.type}"
            listed = _spelled(argument) == "int[]" and entry.family in _WITHOUT_LISTS
            entry.report(entry.argument_span(argument), message, _WITH_LISTS if listed else None)


def _is_number(argument: Argument) -> bool:
    return argument.is_scalar or argument.is_real or argument.is_integral


def _is_one_of(*bases: str) -> Callable[[Argument], bool]:
    return lambda argument: base_name(argument.type) in bases


def _is_operand(argument: Argument) -> bool:
    return not argument.is_optional and (argument.is_tensor or _is_number(argument))


def _is_of_lines(argument: Argument) -> bool:
    return argument.name == "dim" or _is_operand(argument)


def _is_of_rows(argument: Argument) -> bool:
    is_dtype = argument.name == "dtype" and base_name(argument.type) == "ScalarType"
    return is_dtype or _is_of_lines(argument)


def _is_of_indices(argument: Argument) -> bool:
    numbers = ("int", "SymInt") if argument.is_list else ("Scalar", "float", "int", "SymInt", "bool")
    return argument.is_tensor or base_name(argument.type) in numbers


def _is_of_factory(argument: Argument) -> bool:
    is_number = base_name(argument.type) in ("int", "SymInt") or argument.is_scalar
    return is_number or argument.name in ("dtype", "generator", *PLACEMENT)


_KINDS: Mapping[Family, _Kinds] = {
    Family.ELEMENTWISE: _Kinds(
        "Tensor, Scalar, float, int, bool and str",
        lambda argument: argument.is_tensor or _is_number(argument) or base_name(argument.type) == "str",
    ),
    Family.EXTERN: _Kinds(
        "Tensor and Scalar",
        lambda argument: (argument.is_tensor or argument.is_scalar) and not argument.is_optional,
    ),
    Family.INDEXING: _Kinds(
        "Tensor, Scalar, int, bool and str",
        lambda argument: (
            base_name(argument.type) in ("Tensor", "Scalar", "int", "bool", "str") and not argument.is_list
        ),
        {"int": 3},
    ),
    Family.VIEW: _Kinds("int, bool and int[]", _is_one_of("int", "SymInt", "bool"), {"int": 4, "int[]": 2}),
    Family.FACTORY: _Kinds("Scalar, int and int[]", _is_of_factory),
    Family.RANDOM: _Kinds(
        "Tensor, float, int and Generator",
        lambda argument: argument.is_tensor or base_name(argument.type) in ("float", "int", "Generator"),
        {"int": 2, "float": 2},
    ),
    Family.COMPUTE: _Kinds("Tensor, Scalar, float, int, bool and int[]", _is_of_indices, {"int": 4, "int[]": 5}),
    Family.FOLD: _Kinds("Tensor, Scalar, float, int and bool", _is_of_lines),
    Family.ROWS: _Kinds("Tensor, Scalar, float, int, bool and ScalarType", _is_of_rows),
    Family.LOOP: _Kinds("Tensor, Scalar, float, int and bool", _is_operand),
    Family.LAPACK: _Kinds(
        "Tensor, float, int and bool", lambda argument: str(argument.type) in ("Tensor", "float", "int", "bool")
    ),
    Family.CORE: _Kinds(
        "Tensor, Tensor[], float, int, bool, int[], ScalarType, MemoryFormat and Generator",
        _is_one_of("Tensor", "float", "int", "SymInt", "bool", "ScalarType", "MemoryFormat", "Generator"),
        {"int": 4, "int[]": 2, "float": 2},
    ),
}
_OPERANDS = _Kinds("Tensor, Scalar, float, int and bool", _is_operand)
"""The arguments of other families."""


def _check_fixed(entry: Entry, fixed: _Fixed) -> None:
    body = entry.family.title
    for argument in entry.schema.arguments:
        if argument.group:
            continue
        if argument.name not in (*fixed.needed, *fixed.possible):
            message = f"{body} does not use argument '{argument.name}'"
            entry.report(entry.argument_span(argument), message, fixed.example)
        elif base_name(argument.type) != _TYPES[argument.name]:
            message = f"argument '{argument.name}' of {body} has type {_TYPES[argument.name]}"
            entry.report(entry.argument_span(argument), message, fixed.example)
    for name in fixed.needed:
        if entry.schema.argument(name) is None:
            entry.report(entry.name_span, f"{body} needs argument '{name}'", fixed.example)


# ---- numbers ------------------------------------------------------------------------------------------------


def _check_numbers(entry: Entry) -> None:
    if entry.family is Family.FACTORY:
        if entry.schema.argument("dtype") is None:
            entry.report(entry.name_span, "a factory body needs argument 'dtype'", "*, ScalarType? dtype=None")
    elif entry.family in _KINDS and entry.family not in (Family.VIEW, Family.CORE) and not entry.tensors:
        entry.report(entry.name_span, f"{entry.family.title} needs a Tensor argument")
    several = "a composite takes any number, and can"
    _limit(entry, entry.tensors, MAX_OPERANDS, "Tensor", f"{several} call two operators")
    if entry.family in (Family.FOLD, Family.ROWS):
        _check_dimension(entry)
    dtype = entry.schema.argument("dtype")
    several_rows = entry.family is Family.ROWS and len(entry.tensors) > 1
    if several_rows and dtype is not None and base_name(dtype.type) == "ScalarType":
        entry.report(
            entry.argument_span(dtype),
            "rows of several tensors have the dtype that these promote to",
            "leave 'dtype' out",
        )
    if len(entry.schema.returns) > MAX_OUTPUTS and entry.family in _WITH_RESULTS:
        message = f"{len(entry.schema.returns)} results; the core takes up to {MAX_OUTPUTS}"
        entry.report(entry.name_span, message, f"{several} call two operators")
    _limit(entry, entry.scalars, MAX_PARAMS, "Scalar", f"{several} pass what follows from them")
    for what, most in _KINDS.get(entry.family, _OPERANDS).room.items():
        given = [each for each in entry.schema.arguments if _CALLED.get(_spelled(each)) == what]
        _limit(entry, given, most, what, f"{several} pass what follows from them")


def _check_dimension(entry: Entry) -> None:
    """A fold is along `dim`, and so are rows; of a reduction `keepdim` says whether that stays."""
    wanted = {"dim": "int"} if "scan" in entry.node else {"dim": "int", "keepdim": "bool"}
    example = "int dim" if "scan" in entry.node else "int[1]? dim=None, bool keepdim=False"
    for name, kind in wanted.items():
        argument = entry.schema.argument(name)
        if argument is None and name == "keepdim" and entry.family is Family.ROWS:
            continue
        if argument is None:
            entry.report(entry.name_span, f"{entry.family.title} needs argument '{name}'", example)
        elif base_name(argument.type) != kind or (argument.is_list and "scan" in entry.node):
            entry.report(entry.argument_span(argument), f"argument '{name}' has type {kind}", example)


def _spelled(argument: Argument) -> str:
    return f"{base_name(argument.type)}[]" if argument.is_list else base_name(argument.type)


def _limit(entry: Entry, arguments: Iterable[Argument], most: int, what: str, help: str) -> None:
    given = tuple(arguments)
    if len(given) > most:
        message = f"{len(given)} {what} arguments; the core takes up to {most}"
        entry.report(entry.argument_span(given[most]), message, help)
