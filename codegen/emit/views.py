"""C of view operators: a function that computes shape, strides and offset."""

from __future__ import annotations

from collections.abc import Iterator

from ..expr.geometry import TARGET, Geometry, to_c
from ..expr.kernel_text import variable
from ..model.operator import Operator, Requirement, View
from ..nest.forms import Declared, Form, Function, Line
from ..read.bodies.view import local_name
from .requirements import error_kind, format_arguments

_KNOWN = ("v_shape", "v_strides", "v_ndim", "v_numel", "v_offset", "ints", "lists")


def function(operator: Operator, body: View) -> Function:
    """Return the function that computes the geometry of a view."""
    lets = (f"const {TARGET.variable_type(tree.dtype)} {variable(name)} = {to_c(tree)};" for name, tree in body.let)
    results = (
        f"const ow_list to_shape = {to_c(body.shape)};",
        f"const ow_list to_strides = {to_c(body.strides)};",
        f"view->offset = {'0' if body.offset is None else to_c(body.offset)};",
    )
    forms: tuple[Form, ...] = (
        Line("const ow_list v_shape = &view->shape, v_strides = &view->strides;"),
        Line("const int64_t v_ndim = v_shape->n, v_numel = view->numel, v_offset = 0;"),
        Line(f"{', '.join(f'(void){name}' for name in _KNOWN)};"),
        *_arguments(operator, body),
        Declared(body.line, " ".join((*map(_check, body.require), *lets, *results))),
        Line("ow_ints_assign(&view->shape, to_shape);"),
        Line("ow_ints_assign(&view->strides, to_strides);"),
        Line("return !view->error;"),
    )
    return Function(f"static int {operator.name}_geometry(ow_view *view, const int64_t *ints, ow_ints *lists)", forms)


def _arguments(operator: Operator, body: View) -> Iterator[Line]:
    """Yield variables for the arguments; negative dimensions are converted."""
    ints = lists = 0
    for argument in operator.schema.arguments[1:]:
        name = variable(local_name(argument))
        if argument.is_list:
            address, wrap = f"&lists[{lists}]", "ow_view_wrap_list"
            yield Line(f"const ow_list {name} = {address};")
            lists += 1
        else:
            address, wrap = f"&{name}", "ow_view_wrap"
            yield Line(f"int64_t {name} = ints[{ints}];")
            ints += 1
        if argument.name in body.wrap:
            yield Line(f"if (!{wrap}(view, {address}, {to_c(body.wrap[argument.name])})) return 0;")
        yield Line(f"(void){name};")


def _check(requirement: Requirement[Geometry, Geometry]) -> str:
    arguments = ", ".join(["view", error_kind(requirement), *format_arguments(requirement, _placeholder)])
    return f"if (!({to_c(requirement.check)})) return ow_view_fail({arguments});"


def _placeholder(tree: Geometry) -> tuple[str, str]:
    if tree.dtype.is_list:
        return "%s", f"ow_ints_text(&(ow_list_text_buffer){{{{0}}}}, {to_c(tree)})"
    return "%lld", f"(long long)({to_c(tree)})"
