"""C of view operators: a function that computes shape, strides and offset."""

from __future__ import annotations

from dataclasses import dataclass

from ..expr.geometry import TARGET, Geometry, to_c
from ..expr.kernel_text import variable
from ..model.operator import Operator, Requirement, View
from ..read.bodies.view import local_name
from .requirements import error_kind, format_arguments


@dataclass(frozen=True)
class Function:
    """Context of view.c.j2: the geometry function."""

    function: str
    line: int
    arguments: tuple[str, ...]
    checks: tuple[str, ...]
    locals: tuple[str, ...]
    shape: str
    strides: str
    offset: str


def function(operator: Operator, body: View) -> Function:
    """Return the function that computes the geometry of a view."""
    return Function(
        function=f"{operator.name}_geometry",
        line=body.line,
        arguments=tuple(_arguments(operator, body)),
        checks=tuple(_check(requirement) for requirement in body.require),
        locals=tuple(
            f"const {TARGET.variable_type(tree.dtype)} {variable(name)} = {to_c(tree)};" for name, tree in body.let
        ),
        shape=to_c(body.shape),
        strides=to_c(body.strides),
        offset="0" if body.offset is None else to_c(body.offset),
    )


def _arguments(operator: Operator, body: View) -> list[str]:
    """Declarations of variables for the arguments; negative dimensions are converted."""
    statements: list[str] = []
    ints = lists = 0
    for argument in operator.schema.arguments[1:]:
        name = variable(local_name(argument))
        if argument.is_list:
            address, wrap = f"&lists[{lists}]", "ow_view_wrap_list"
            declaration = f"const ow_list {name} = {address};"
            lists += 1
        else:
            address, wrap = f"&{name}", "ow_view_wrap"
            declaration = f"int64_t {name} = ints[{ints}];"
            ints += 1
        statements.append(declaration)
        if argument.name in body.wrap:
            statements.append(f"if (!{wrap}(view, {address}, {to_c(body.wrap[argument.name])})) return 0;")
        statements.append(f"(void){name};")
    return statements


def _check(requirement: Requirement[Geometry, Geometry]) -> str:
    arguments = ", ".join(["view", error_kind(requirement), *format_arguments(requirement, _placeholder)])
    return f"if (!({to_c(requirement.check)})) return ow_view_fail({arguments});"


def _placeholder(tree: Geometry) -> tuple[str, str]:
    if tree.dtype.is_list:
        return "%s", f"ow_ints_text(&(ow_list_text_buffer){{{{0}}}}, {to_c(tree)})"
    return "%lld", f"(long long)({to_c(tree)})"
