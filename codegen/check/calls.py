"""Checks which functions the Python of entries calls, and that bodies of composites return a result.

A body may call every function of its file and those that are provided. Without these checks an unknown name, a body
without a result and a body that always calls itself would only be noticed by whoever calls the operator.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import Diagnostics, suggest
from ..model.operator import Declaration, Operator
from ..model.python_operators import PYTHON_OPERATORS
from ..model.variants import function_names, inplace_function_names
from ..read.python_text import Mode, assigned, is_builtin, parsed
from ..source import Scalar

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_PERHAPS = (ast.For, ast.While, ast.Try, ast.Match, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Provided:
    """The functions that the generated modules have besides those of a file."""

    to_bodies: Collection[str]
    to_formulas: Collection[str]
    of_tensors: Collection[str]
    """The attributes of a tensor."""


def check(declarations: Sequence[Declaration], diagnostics: Diagnostics, provided: Provided | None) -> None:
    """Report unknown functions that the Python of entries calls, and composites without a result."""
    operators = [each for each in declarations if isinstance(each, Operator)]
    if provided is not None:
        own = {name for each in declarations for name in _names(each)}
        formulas = " ".join(each.text for operator in operators for each in operator.derivatives.values())
        for each in declarations:
            if each.name in provided.to_formulas and re.search(rf"\b{each.name}\(", formulas):
                message = f"'{each.name}' is a function that formulas of gradients call"
                diagnostics.report(each.place(each.name), message, "give the operator another name")
        for operator in operators:
            for scalar, mode in _python(operator):
                in_body = scalar in operator.body.quoted
                known = provided.to_bodies if mode == "exec" or in_body else provided.to_formulas
                _check_known(operator, scalar, mode, own.union(known), diagnostics)
                _check_attributes(operator, scalar, mode, own.union(provided.of_tensors), diagnostics)
    sources = {operator.name: operator.body.python for operator in operators if operator.body.python is not None}
    bodies = {name: _body(source) for name, source in sources.items()}
    for name, source in sources.items():
        if _may_end(bodies[name]):
            returns = any(isinstance(each, ast.Return) for each in _own(bodies[name]))
            message = "the body may end without a result" if returns else "the body returns nothing"
            diagnostics.report(source.span, message, "end it with 'return' and the result")
    _check_cycles(operators, sources, bodies, diagnostics)


def _names(declaration: Declaration) -> Iterator[str]:
    """Names of the functions that the generated module has for an entry."""
    yield declaration.name
    yield from function_names(declaration)
    yield from inplace_function_names(declaration)
    yield f"{declaration.name}_"


def _python(operator: Operator) -> Iterator[tuple[Scalar, Mode]]:
    """The body of a composite, and formulas that are not in the language of expressions."""
    if operator.body.python is not None:
        yield operator.body.python, "exec"
    for quoted in operator.body.quoted:
        yield quoted, "eval"
    formulas = () if operator.family.in_language else operator.derivatives.values()
    for derivative in (*formulas, *operator.complex_derivatives.values()):
        if derivative.text not in ("none", "auto"):
            yield derivative.source, "eval"


def _check_known(operator: Operator, scalar: Scalar, mode: Mode, known: set[str], diagnostics: Diagnostics) -> None:
    nodes, span_of = parsed(scalar, mode)
    bound = assigned(nodes) | {argument.name for argument in operator.schema.arguments}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if name not in known and name not in bound and not is_builtin(name):
                diagnostics.report(span_of(node.func), f"unknown function '{name}'", suggest(name, sorted(known)))


def _check_attributes(
    operator: Operator, scalar: Scalar, mode: Mode, known: set[str], diagnostics: Diagnostics
) -> None:
    """Check the attributes that are read from arguments which can only be tensors."""
    nodes, span_of = parsed(scalar, mode)
    tensors = {argument.name for argument in operator.tensors_only} - assigned(nodes)
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    for node in attributes:
        if ast.unparse(node.value) in tensors and node.attr not in known:
            message = f"a tensor has no attribute '{node.attr}'"
            diagnostics.report(span_of(node), message, suggest(node.attr, sorted(known)))


# ---- results ------------------------------------------------------------------------------------------------


def _body(scalar: Scalar) -> list[ast.stmt]:
    nodes, _ = parsed(scalar, "exec")
    function = next(node for node in nodes if isinstance(node, ast.FunctionDef))
    return function.body


def _own(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes of a body, without those of functions that are defined in it."""
    for node in statements:
        yield node
        if not isinstance(node, _NESTED):
            yield from _own(ast.iter_child_nodes(node))


def _may_end(statements: Sequence[ast.stmt]) -> bool:
    """True if control can leave the last of these statements without returning a value or raising."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Return):
        return last.value is None or (isinstance(last.value, ast.Constant) and last.value.value is None)
    if isinstance(last, ast.Raise):
        return False
    if isinstance(last, ast.If):
        return _may_end(last.body) or _may_end(last.orelse)
    if isinstance(last, ast.With):
        return _may_end(last.body)
    if isinstance(last, ast.While):
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return not endless or any(isinstance(each, ast.Break) for each in _own(last.body))
    if isinstance(last, ast.Try):
        branches = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return (not last.finalbody or _may_end(last.finalbody)) and any(map(_may_end, branches))
    if isinstance(last, ast.Match):
        catches_all = any(
            isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            for case in last.cases
        )
        return not catches_all or any(_may_end(case.body) for case in last.cases)
    return True


# ---- cycles -------------------------------------------------------------------------------------------------


def _check_cycles(
    operators: Sequence[Operator],
    sources: Mapping[str, Scalar],
    bodies: Mapping[str, Sequence[ast.stmt]],
    diagnostics: Diagnostics,
) -> None:
    """Report composites that call themselves, directly or through others, whatever their arguments are."""
    owners = {name: each.name for each in operators for name in _names(each)}
    symbols = {
        PYTHON_OPERATORS[each.operator].method.strip("_"): each.name for each in operators if each.operator is not None
    }
    calls = {name: _certain_calls(body, owners, symbols) for name, body in bodies.items()}
    reported: set[str] = set()
    for operator in operators:
        cycle = _cycle(operator.name, calls)
        if cycle and not reported.intersection(cycle):
            reported.update(cycle)
            path = " -> ".join([*cycle, cycle[0]])
            message = f"'{operator.name}' calls itself without end: {path}"
            diagnostics.report(sources[operator.name].span, message, "a body is written in terms of other operators")


def _cycle(start: str, calls: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a chain of calls from an operator to itself, or an empty list."""
    paths, seen = [[start]], {start}
    for path in paths:
        for name in calls.get(path[-1], ()):
            if name == start:
                return path
            if name in calls and name not in seen:
                seen.add(name)
                paths.append([*path, name])
    return []


def _certain_calls(body: Sequence[ast.stmt], owners: Mapping[str, str], symbols: Mapping[str, str]) -> list[str]:
    """Names of the operators that a body calls whatever its arguments are."""
    bound = assigned([node for statement in body for node in ast.walk(statement)])
    called: list[str] = []
    for node in _executed(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in bound:
            called.append(owners.get(node.func.id, ""))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called.append(owners.get(node.func.attr, "") if isinstance(node.func.value, ast.Name) else "")
        elif isinstance(node, (ast.BinOp, ast.UnaryOp)):
            called.append(symbols.get(_SYMBOLS.get(type(node.op), ""), ""))
    return [name for name in dict.fromkeys(called) if name]


_SYMBOLS: Mapping[type[ast.operator | ast.unaryop], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.MatMult: "matmul", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.USub: "neg", ast.Invert: "invert",
}  # fmt: skip


def _executed(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes that are evaluated whatever the arguments are. The walk ends where an early return may happen."""
    for node in nodes:
        if isinstance(node, (*_NESTED, *_PERHAPS)):
            return
        if isinstance(node, (ast.If, ast.IfExp)):
            yield from _executed([node.test])
            if isinstance(node, ast.If):
                return
            continue
        if isinstance(node, ast.With):
            yield from _executed(node.items)
            return
        if isinstance(node, ast.BoolOp):
            yield from _executed(node.values[:1])
            continue
        yield node
        yield from _executed(ast.iter_child_nodes(node))
