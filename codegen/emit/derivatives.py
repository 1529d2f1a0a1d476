"""opweave/_derivatives.py: a class of graph nodes for each operator, made of the formulas in its entry.

A class says which inputs have gradients, what it keeps of a call and how the gradients follow from that: `x.shape` in
a formula keeps the shape alone. An elementwise formula is written twice: as one kernel (codegen/backward.py) for the
usual backward pass, and as operators, for those that are differentiated again and for complex numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import backward, variants
from ..dtypes import COMPLEX128
from ..expr.functions import FUNCTIONS
from ..expr.tree import Apply, Expr, Name
from ..model import Derivative, Elementwise, End, Family, Operator
from ..schema import base_name
from .python import Package
from .registry import indexed
from .text import render

_MULTIPLIED = (Family.ELEMENTWISE, Family.EXTERN, Family.REDUCE, Family.SCAN, Family.ROWS)
"""Families whose formulas are products of `grad` and a derivative, and say nothing of conjugates."""


_OF_PARTS = frozenset(("abs", "angle", "complex", "conj", "imag", "real", "sign"))
"""Functions without a complex derivative: formulas that they are part of say what torch's convention makes of them."""


@dataclass(frozen=True)
class Gradient:
    """That by one input: its formula as Python, and the kernel that computes it (None: there is none)."""

    name: str
    formula: str | None
    kernel: int | None
    operands: tuple[str, ...]
    of_complex: str | None
    """The formula for complex numbers, where it is another one."""
    needed_by: tuple[str, ...]
    """The input itself, and those whose formulas are written in terms of this gradient."""

    @property
    def condition(self) -> str:
        return " or ".join(f"to_{name}" for name in self.needed_by)

    @property
    def returned(self) -> str:
        found = f"by_{self.name}"
        return found if len(self.needed_by) == 1 else f"{found} if to_{self.name} else None"


@dataclass(frozen=True)
class Kept:
    """An input that is saved when a gradient is asked for whose formula uses it."""

    name: str
    needed_by: tuple[str, ...]
    listed: bool

    def text(self, edges: Sequence[str]) -> str:
        """What is handed over to be kept."""
        if self.listed:
            return f"*{self.name}"
        if len(self.needed_by) == len(edges):
            return self.name
        return f"{self.name} if {' or '.join(f'to_{name}' for name in self.needed_by)} else None"


@dataclass(frozen=True)
class Derived:
    """One class as derivatives.py.j2 wants it."""

    name: str
    operator: str
    parameters: tuple[str, ...]
    listed: bool
    pick: str
    gradients: tuple[Gradient, ...]
    tensors: tuple[Kept, ...]
    values: tuple[tuple[str, str], ...]
    absent: tuple[tuple[str, str], ...]
    grads: tuple[str, ...]
    results: tuple[int, ...]
    result_names: tuple[str, ...]
    holomorphic: bool
    takes_complex: bool
    is_complex: str
    """Python that says whether a call was one of complex numbers."""

    @property
    def in_order(self) -> list[Gradient]:
        """Before each gradient those that its formula uses."""
        return sorted(self.gradients, key=lambda gradient: -len(gradient.needed_by))

    @property
    def edges(self) -> tuple[str, ...]:
        return tuple(f"to_{gradient.name}" for gradient in self.gradients)

    @property
    def conditional(self) -> bool:
        return any(" if " in kept.text(self.edges) for kept in self.tensors)

    @property
    def has_kernels(self) -> bool:
        return any(gradient.kernel is not None for gradient in self.gradients)


def emit(operators: Sequence[Operator], source: str, output: str, package: Package | None = None) -> str:
    kernels = backward.indices(operators, len(indexed(operators)))
    same = _functions(operators)
    return render(
        "derivatives.py.j2",
        source,
        output,
        classes=[_derived(each, kernels, same) for each in operators if each.derivatives],
        package=package,
    )


def arguments(operator: Operator) -> tuple[str, ...]:
    """Names of what the runtime hands over when it records a call, in its order."""
    inputs = [argument.name for argument in operator.inputs]
    params = [argument.name for argument in operator.params]
    rest = [argument for argument in operator.schema.arguments if not argument.is_tensor and not argument.is_scalar]
    if operator.family in (Family.ELEMENTWISE, Family.EXTERN):
        return (*inputs, *params)
    if operator.family in (Family.REDUCE, Family.ROWS):
        return (*inputs, "dim", "keepdim", *params)
    if operator.family is Family.SCAN:
        return (*inputs, "dim", *(("keepdim",) if len(operator.schema.returns) > 1 else ()))
    if operator.family is Family.VIEW:
        lists = [argument.name for argument in rest if argument.is_list]
        return (*inputs, *(argument.name for argument in rest if not argument.is_list), *lists)
    if operator.family is Family.INDEXING:
        return (*inputs, *params, *(argument.name for argument in rest))
    if operator.family is Family.LAPACK:
        floats = [argument.name for argument in rest if base_name(argument.type) == "float"]
        return (*inputs, *(argument.name for argument in rest if argument.name not in floats), *floats)
    return tuple(argument.name for argument in operator.schema.arguments)


def _derived(operator: Operator, kernels: Mapping[tuple[str, str], int], same: Mapping[str, str]) -> Derived:
    names = arguments(operator)
    read = {name: _read(operator, derivative, same) for name, derivative in operator.derivatives.items()}
    both = {
        name: formula.joined(_read(operator, operator.complex_derivatives[name], {}, python=True))
        if name in operator.complex_derivatives else formula
        for name, formula in read.items()
    }  # fmt: skip
    both = {name: _with_gradients(formula, both) for name, formula in both.items()}
    differentiated = _differentiated(operator)
    users = {name: [each for each in differentiated if each in both and name in both[each].gradients] for name in names}
    tensors = {argument.name for argument in operator.schema.arguments if argument.is_tensor or argument.is_tensor_list}
    used = {name: [each for each in differentiated if each in both and name in both[each].names] for name in names}
    listed = _is_listed(operator)
    kept = [
        Kept(_variable(name), tuple(map(_variable, used[name])), listed)
        for name in names
        if used[name] and name in tensors
    ]
    values = [(_variable(name), _variable(name)) for name in names if used[name] and name not in tensors]
    facts = sorted({fact for each in both.values() for fact in each.facts})
    values += [(f"{_variable(name)}_{fact}", _fact(operator, name, fact)) for name, fact in facts]
    results = {place: name for each in both.values() for name, place in each.results}
    places = [names.index(name) for name in differentiated]
    in_a_row = places == list(range(places[0], places[0] + len(places)))
    body = operator.body
    return Derived(
        name="".join(word[:1].upper() + word[1:] for word in operator.name.split("_")) + "Backward0",
        operator=operator.name,
        parameters=tuple(_parameters(operator, names)),
        listed=listed,
        pick=str(places[0]) if listed else f"_slice({places[0]}, {places[-1] + 1})" if in_a_row else str(places)[1:-1],
        gradients=tuple(_gradient(operator, name, read.get(name), kernels, users[name]) for name in differentiated),
        tensors=tuple(kept),
        values=tuple(values),
        absent=tuple(_absent(body, used)) if isinstance(body, Elementwise) else (),
        grads=_grads(operator),
        results=tuple(sorted(results)),
        result_names=tuple(results[place] for place in sorted(results)),
        holomorphic=_is_holomorphic(operator),
        takes_complex=_takes_complex(operator),
        is_complex=_is_complex(operator, names[0]),
    )


def _with_gradients(formula: _Formula, formulas: Mapping[str, _Formula]) -> _Formula:
    """With what the gradients use that it is written in terms of."""
    for name in formula.gradients:
        formula = formula.joined(formulas[name])
    return formula


def _gradient(
    operator: Operator,
    name: str,
    formula: _Formula | None,
    kernels: Mapping[tuple[str, str], int],
    users: Sequence[str],
) -> Gradient:
    kernel = kernels.get((operator.name, name))
    tree = operator.derivatives[name].tree if kernel is not None else None
    tensors, numbers = ([], []) if tree is None else backward.arguments(operator, tree)
    operands = tuple(map(_variable, (*tensors, *numbers)))
    of_complex = operator.complex_derivatives.get(name)
    text = None if of_complex is None else _read(operator, of_complex, {}, python=True).text
    needed_by = tuple(map(_variable, (name, *users)))
    return Gradient(_variable(name), None if formula is None else formula.text, kernel, operands, text, needed_by)


def _parameters(operator: Operator, names: Sequence[str]) -> Iterator[str]:
    """The arguments of `save`; those of Python's operators come without numbers such as `alpha`."""
    defaults = {parameter.argument.name: parameter.default for parameter in variants.parameters(operator)}
    plain = operator.family in (Family.ELEMENTWISE, Family.EXTERN)
    for name in names:
        default = defaults.get(name)
        yield _variable(name) if default is None or not plain else f"{_variable(name)}={default}"


def _variable(name: str) -> str:
    """What an argument is called in generated code, where `self` would read as the node."""
    return "input" if name == "self" else name


def _is_listed(operator: Operator) -> bool:
    """Is the gradient that of each tensor of a list?"""
    return any(operator.schema.argument(name).is_tensor_list for name in operator.derivatives)  # type: ignore[union-attr]


def _differentiated(operator: Operator) -> list[str]:
    """The inputs in whose order gradients are given; of a composite those with formulas."""
    if operator.family is Family.COMPOSITE:
        return [argument.name for argument in operator.schema.arguments if argument.name in operator.derivatives]
    return [argument.name for argument in operator.inputs]


def _fact(operator: Operator, name: str, fact: str) -> str:
    variable = _variable(name)
    if fact == "geometry":
        return f"geometry({variable})"
    argument = operator.schema.argument(name)
    if argument is not None and argument.is_tensor_list:
        return f"[each.shape for each in {variable}]"
    return f"{variable}.shape"


def _grads(operator: Operator) -> tuple[str, ...]:
    """`grad`, or one of each result of several: `grad_values` by its name, or `grads` of a list."""
    returns = operator.schema.returns
    if operator.returns_list:
        return ("*grads",)
    if len(returns) == 1:
        return ("grad",)
    # Without `dim` some give their first result alone.
    return tuple(f"grad_{result.name or place}=None" for place, result in enumerate(returns))


def _absent(body: Elementwise, used: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """What an optional argument that is None is taken for, where a formula uses it."""
    for name, value in body.absent.items():
        if not used[name]:
            continue
        text = {End.LOWEST: "-inf", End.HIGHEST: "inf"}[value] if isinstance(value, End) else repr(value)
        yield _variable(name), text


# ---- formulas ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Formula:
    text: str | None
    names: frozenset[str] = frozenset()
    facts: frozenset[tuple[str, str]] = frozenset()
    results: frozenset[tuple[str, int]] = frozenset()
    gradients: frozenset[str] = frozenset()
    """By which other inputs gradients are used, `by_B` for an input B."""

    def joined(self, other: _Formula) -> _Formula:
        """What both use."""
        return replace(
            self, names=self.names | other.names, facts=self.facts | other.facts, results=self.results | other.results
        )


class _Reader(ast.NodeTransformer):
    """Turns a formula into the Python of a generated method, and notes what it uses."""

    def __init__(self, operator: Operator, same: Mapping[str, str], elementwise: bool) -> None:
        self.elementwise = elementwise
        self.same = same
        self.known = set(arguments(operator))
        self.numbers = {argument.name for argument in operator.params}
        inputs = [argument.name for argument in operator.inputs]
        self.inputs = inputs if len(inputs) > 1 else []
        results = [result.name or str(place) for place, result in enumerate(operator.schema.returns)]
        self.result_places = {f"result_{name}": place for place, name in enumerate(results)} | {"result": 0}
        self.names: set[str] = set()
        self.facts: set[tuple[str, str]] = set()
        self.results: set[tuple[str, int]] = set()
        self.gradients: set[str] = set()

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if not self.elementwise:
            return self.generic_visit(node)
        parts = [self.visit(each) for each in (node.test, node.body, node.orelse)]
        return ast.Call(ast.Name("where", ast.Load()), parts, [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = node.left, node.right
        scaled = isinstance(node.op, ast.Mult) and isinstance(left, ast.Name) and isinstance(right, ast.Name)
        if scaled and left.id == "grad" and right.id in self.numbers:  # type: ignore[attr-defined]
            # A factor such as `alpha` is 1 in most calls.
            return ast.Call(ast.Name("scaled", ast.Load()), [self.visit(left), self.visit(right)], [])
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "shape" and isinstance(node.value, ast.Name) and node.value.id in self.known:
            return self._fact(node.value.id, "shape")
        return self.generic_visit(node)

    def _fact(self, name: str, fact: str) -> ast.AST:
        """What is kept of an argument in place of its elements."""
        self.facts.add((name, fact))
        return ast.Name(f"{_variable(name)}_{fact}", ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id == "geometry" and isinstance(node.args[0], ast.Name):
            return self._fact(node.args[0].id, "geometry")
        if isinstance(called, ast.Name) and self.elementwise and all(map(_is_constant, node.args)):
            return ast.Call(ast.Attribute(ast.Name("math", ast.Load()), called.id, ast.Load()), node.args, [])
        if isinstance(called, ast.Name):
            name = self.same.get(called.id, called.id) if self.elementwise else called.id
            function: ast.AST = ast.Name(name, ast.Load())
        else:
            function = self.visit(called)
        keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        given = [self._operand(each) if self.elementwise else self.visit(each) for each in node.args]
        return ast.Call(function, given, keywords)  # type: ignore[arg-type]

    def _operand(self, argument: ast.expr) -> ast.expr:
        """Where a number may stand in the place of a tensor, functions still want a tensor."""
        visited: ast.expr = self.visit(argument)
        if not isinstance(argument, ast.Name) or argument.id not in self.inputs:
            return visited
        return ast.Call(ast.Name("as_tensor_like", ast.Load()), [visited, ast.Name("grad", ast.Load())], [])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.result_places:
            self.results.add((node.id, self.result_places[node.id]))
        elif node.id in self.known:
            self.names.add(node.id)
            return ast.Name(_variable(node.id), ast.Load())
        elif node.id.removeprefix("by_") in self.known:
            self.gradients.add(node.id.removeprefix("by_"))
            return ast.Name(f"by_{_variable(node.id.removeprefix('by_'))}", ast.Load())
        return node


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in ("pi", "inf", "nan", "e"))


def _read(operator: Operator, derivative: Derivative, same: Mapping[str, str], python: bool = False) -> _Formula:
    text = derivative.formula
    if text is None:
        return _Formula(None)
    if text.lstrip("-").isdigit():
        text = f"{text} * grad"
    reader = _Reader(operator, same, isinstance(operator.body, Elementwise) and not python)
    tree = ast.fix_missing_locations(reader.visit(ast.parse(" ".join(text.split()), mode="eval")))
    names, gradients = frozenset(reader.names), frozenset(reader.gradients)
    return _Formula(ast.unparse(tree), names, frozenset(reader.facts), frozenset(reader.results), gradients)


def _functions(operators: Sequence[Operator]) -> dict[str, str]:
    """The operator that computes a function of the expression language, where it has another name."""
    found: dict[str, str] = {}
    own = {operator.name for operator in operators}
    for operator in operators:
        body = operator.body
        tree = body.cases[-1][1].tree if isinstance(body, Elementwise) else None
        if isinstance(tree, Apply) and tree.function in FUNCTIONS:
            taken = [each.name for each in tree.args if isinstance(each, Name)]
            alike = taken == [each.name for each in operator.inputs]
            if alike and (tree.function not in own or operator.name == tree.function or _takes_complex(operator)):
                found.setdefault(tree.function, operator.name)
                if _takes_complex(operator):
                    found[tree.function] = operator.name
    return found


def _is_holomorphic(operator: Operator) -> bool:
    """Are the formulas products of `grad` and complex derivatives?"""
    expression = operator.body.expression(COMPLEX128) if isinstance(operator.body, Elementwise) else None
    uses_parts = expression is not None and bool(_functions_of(expression.tree) & _OF_PARTS)
    products = operator.family in _MULTIPLIED and not uses_parts and not operator.complex_derivatives
    return products and _takes_complex(operator)


def _is_complex(operator: Operator, first: str) -> str:
    return f"{_variable(first)}.dtype.is_complex" if backward.turns_real(operator) else "grad.dtype.is_complex"


def _functions_of(tree: Expr) -> set[str]:
    """Those that the value is made of; conditions only choose."""
    called = {tree.function} if isinstance(tree, Apply) else set()
    parts = tree.children[1:] if "where" in called else tree.children
    return called.union(*map(_functions_of, parts))


def _takes_complex(operator: Operator) -> bool:
    return any(dtype.is_complex for dtype in operator.dtypes)
