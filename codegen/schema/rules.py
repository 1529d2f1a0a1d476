"""Rules for a whole schema: torch's conventions for mutation, out arguments and results."""

from __future__ import annotations

from collections.abc import Callable

from .reader import SchemaError
from .types import Argument, BaseType, FunctionSchema, Return

_TENSOR = BaseType("Tensor")
# These out arguments are working memory of a planned call: they are written to but not returned.
_SCRATCH_PREFIX = "_scratch_"


def check(schema: FunctionSchema, note: Callable[[SchemaError], None], conventions: bool) -> None:
    """Note the first mistake against each rule; without `conventions` only of names, and of defaults."""
    rules = [_check_names, _check_order]
    rules += [_check_aliases] if conventions else []
    rules += [_check_inplace] if conventions and schema.name.inplace else []
    rules += [_check_out] if conventions and schema.out else []
    for rule in rules:
        try:
            rule(schema)
        except SchemaError as mistake:
            note(mistake)


def _check_names(schema: FunctionSchema) -> None:
    seen: set[str] = set()
    for argument in schema.all_arguments:
        if argument.name in seen:
            help = f"'{argument.group}' stands for it and others" if argument.group else None
            raise _at_name(argument, f"duplicate argument '{argument.name}'", help)
        seen.add(argument.name)
    named: set[str] = set()
    for result in schema.returns:
        if result.name is not None and result.name in named:
            raise _at_result(result, f"duplicate result name '{result.name}'")
        named.add(result.name or "")


def _check_order(schema: FunctionSchema) -> None:
    defaulted = None
    for argument in schema.positional:
        if argument.default is not None:
            defaulted = argument
        elif defaulted is not None:
            raise _at_name(
                argument,
                f"argument '{argument.name}' without a default follows '{defaulted.name}', which has one",
                "give it a default, or move it behind '*'",
            )


def _check_aliases(schema: FunctionSchema) -> None:
    known = {
        letter
        for argument in schema.all_arguments
        if argument.alias is not None
        for letter in (*argument.alias.before, *argument.alias.after)
    }
    writable = [*schema.out] + ([schema.self_argument] if schema.self_argument else [])
    for result in schema.returns:
        if result.alias is None:
            continue
        for letter in (*result.alias.before, *result.alias.after):
            if letter != "*" and letter not in known:
                raise _at_result(result, f"result shares memory with '{letter}', which marks no argument")
        if result.is_write and all(argument.alias != result.alias for argument in writable):
            raise _at_result(
                result,
                f"result '({result.alias})' is neither 'self' nor a keyword-only argument",
                "a result that was written to belongs to 'self' or to an argument behind '*'",
            )
    written = [result.is_write for result in schema.returns]
    if any(written) and not all(written):
        odd = schema.returns[written.index(False)]
        raise _at_result(odd, "results are either all written to or all new; this one is new")


def _check_inplace(schema: FunctionSchema) -> None:
    target = schema.self_argument
    if schema.out:
        raise _at_name(schema.out[0], f"in-place operator '{schema.name}' has an out argument")
    if target is None or not target.is_write:
        name = schema.name
        message = f"in-place operator '{name.identifier}' does not write to 'self'"
        raise SchemaError(message, name.offset, len(name.identifier), "declare it as 'Tensor(a!) self'")
    if target.type == _TENSOR:
        if len(schema.returns) != 1 or schema.returns[0].alias != target.alias:
            offset = schema.returns[0].offset if schema.returns else target.offset
            length = len(str(schema.returns[0])) if schema.returns else len(str(target))
            message = f"in-place operator '{schema.name.identifier}' must return 'self'"
            raise SchemaError(message, offset, length, f"write '-> Tensor({target.alias})'")
    elif schema.returns:
        raise _at_result(schema.returns[0], "an in-place operator on a list returns nothing", "write '-> ()'")


def _check_out(schema: FunctionSchema) -> None:
    returned = [argument for argument in schema.out if not argument.name.startswith(_SCRATCH_PREFIX)]
    if any(argument.type != _TENSOR for argument in schema.out):
        if schema.returns:
            raise _at_result(
                schema.returns[0], "an operator with a list as out argument returns nothing", "write '-> ()'"
            )
        return
    for argument, result in zip(returned, schema.returns, strict=False):
        if argument.alias != result.alias:
            raise _at_result(
                result,
                f"result must be the out argument '{argument.name}'",
                f"write 'Tensor({argument.alias})'",
            )
    if len(returned) > len(schema.returns):
        missing = returned[len(schema.returns)]
        raise _at_name(missing, f"out argument '{missing.name}' is not returned")
    if len(returned) < len(schema.returns):
        raise _at_result(schema.returns[len(returned)], "result is no out argument")


def _at_name(argument: Argument, message: str, help: str | None = None) -> SchemaError:
    return SchemaError(message, argument.name_offset, argument.name_length, help)


def _at_result(result: Return, message: str, help: str | None = None) -> SchemaError:
    return SchemaError(message, result.offset, len(str(result)), help)
