"""Turns derivative formulas into the Python of generated methods, and finds what they use of a recorded call."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..cache import NONE as NO_CACHE
from ..cache import Cache
from ..expr.functions import FUNCTIONS
from ..expr.tree import Apply, Name, names
from ..model.operator import Derivative, Operator, grad_name, term_of
from ..model.signatures import accepted_types
from . import guards


def arguments(operator: Operator) -> tuple[str, ...]:
    """Names of what a node is given of a call: all arguments, in schema order."""
    return tuple(argument.name for argument in operator.schema.arguments)


def variable(name: str) -> str:
    """The name of an argument in generated methods, where `self` is the node."""
    return "input" if name == "self" else name


def takes_complex(operator: Operator) -> bool:
    """Return True if the operator has complex dtypes."""
    return any(dtype.is_complex for dtype in operator.dtypes)


@dataclass(frozen=True)
class Formula:
    """A formula as Python (None: it is declined), and the arguments, facts about them and results that it uses."""

    text: str | None
    names: frozenset[str] = frozenset()
    facts: frozenset[tuple[str, str]] = frozenset()
    results: frozenset[tuple[str, int]] = frozenset()
    gradients: frozenset[str] = frozenset()
    """The inputs whose gradients the formula uses, as `by_B` for an input B."""
    conditions: frozenset[tuple[str, str]] = frozenset()
    """(name, Python condition) of each name that is used only if a condition on other arguments holds."""

    def joined(self, other: Formula) -> Formula:
        """This formula with what either of both uses."""
        both = (self.names & other.names) | {name for name, _ in self.results & other.results}
        conditions = {each for each in self.conditions ^ other.conditions if each[0] not in both}
        return replace(
            self,
            names=self.names | other.names,
            facts=self.facts | other.facts,
            results=self.results | other.results,
            conditions=frozenset(conditions | (self.conditions & other.conditions)),
        )


class _Reader(ast.NodeTransformer):
    """Turns a formula into the Python of a generated method and notes what it uses."""

    def __init__(self, operator: Operator, same: Mapping[str, Operator], elementwise: bool) -> None:
        self.elementwise = elementwise
        self.same = same
        self.known = set(arguments(operator))
        self.numbers = {argument.name for argument in operator.params}
        inputs = [argument.name for argument in operator.inputs]
        self.inputs = inputs if len(inputs) > 1 else []
        results = [result.name or str(index) for index, result in enumerate(operator.schema.returns)]
        self.result_indices = {f"result_{name}": index for index, name in enumerate(results)} | {"result": 0}
        self.names: Counter[str] = Counter()
        self.uses: Counter[str] = Counter()
        """The number of uses of each argument and result."""
        self.guarded: dict[str, Counter[str]] = {}
        """The number of uses of each name where a condition holds, by condition."""
        self.facts: set[tuple[str, str]] = set()
        self.results: set[tuple[str, int]] = set()
        self.gradients: set[str] = set()

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if not self.elementwise:
            return self._guarded(node)
        return self._choice(node.test, node.body, node.orelse)

    def _choice(self, *parts: ast.expr) -> ast.AST:
        visited = [self.visit(part) for part in parts]
        return ast.Call(self._function("chosen"), [*visited, ast.Name("grad", ast.Load())], [])

    def _guarded(self, node: ast.IfExp) -> ast.AST:
        """`x if dim is None else y`: values that only x uses need be saved only if the condition holds, where it is
        about arguments. Gradients are not there yet when values are saved."""
        test, before = self.visit(node.test), self.uses.copy()
        body = self.visit(node.body)
        if all(each.id in self.known for each in _values(node.test)):
            self.guarded.setdefault(ast.unparse(test), Counter()).update(self.uses - before)
        return ast.IfExp(test, body, self.visit(node.orelse))

    @property
    def conditions(self) -> frozenset[tuple[str, str]]:
        counted = [(name, test) for test, names in self.guarded.items() for name in names]
        return frozenset((name, test) for name, test in counted if self.guarded[test][name] == self.uses[name])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = node.left, node.right
        scaled = isinstance(node.op, ast.Mult) and isinstance(left, ast.Name) and isinstance(right, ast.Name)
        if scaled and left.id == "grad" and right.id in self.numbers:  # type: ignore[attr-defined]
            # A factor such as `alpha` is 1 in most calls.
            return ast.Call(self._function("scaled"), [self.visit(left), self.visit(right)], [])
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in ("shape", "device") and isinstance(node.value, ast.Name) and node.value.id in self.known:
            return self._fact(node.value.id, node.attr)
        return self.generic_visit(node)

    def _fact(self, name: str, fact: str) -> ast.AST:
        """A fact about an argument that is saved instead of the argument."""
        self.facts.add((name, fact))
        return ast.Name(f"{variable(name)}_{fact}", ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id == "geometry" and isinstance(node.args[0], ast.Name):
            return self._fact(node.args[0].id, "geometry")
        if isinstance(called, ast.Name) and self.elementwise and _is_math_call(called.id, node.args):
            return ast.Call(ast.Attribute(self._function("math"), called.id, ast.Load()), node.args, [])
        if isinstance(called, ast.Name) and called.id == "where" and self.elementwise:
            return self._choice(*node.args)
        operator = self.same.get(called.id) if isinstance(called, ast.Name) else None
        if isinstance(called, ast.Name):
            function = self._function(operator.name if operator and self.elementwise else called.id)
        else:
            function = self.visit(called)
        keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        if not self.elementwise:
            return ast.Call(function, [self.visit(each) for each in node.args], keywords)
        numbers = [self._is_number(each) for each in node.args]
        refused = [all(numbers) or (number and _refuses(operator, place)) for place, number in enumerate(numbers)]
        return ast.Call(function, list(map(self._operand, node.args, refused)), keywords)

    def _function(self, name: str) -> ast.expr:
        """A reference to a function of the generated module, also if an argument has its name."""
        if name not in self.known:
            return ast.Name(name, ast.Load())
        return ast.Subscript(ast.Name("_globals", ast.Load()), ast.Constant(name), ast.Load())

    def _operand(self, argument: ast.expr, refused: bool) -> ast.expr:
        """An operand as a tensor where it may be a number, or is one that is `refused`."""
        visited: ast.expr = self.visit(argument)
        if not refused and not (isinstance(argument, ast.Name) and argument.id in self.inputs):
            return visited
        return ast.Call(self._function("as_tensor_like"), [visited, ast.Name("grad", ast.Load())], [])

    def _is_number(self, argument: ast.expr) -> bool:
        """True if the expression uses numbers alone."""
        return all(each.id in self.numbers | _CONSTANTS for each in _values(argument))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.result_indices:
            self.results.add((node.id, self.result_indices[node.id]))
            self.uses[node.id] += 1
        elif node.id in self.known:
            self.names[node.id] += 1
            self.uses[node.id] += 1
            return ast.Name(variable(node.id), ast.Load())
        elif node.id.removeprefix("by_") in self.known:
            self.gradients.add(node.id.removeprefix("by_"))
            return ast.Name(f"by_{variable(node.id.removeprefix('by_'))}", ast.Load())
        return node


_CONSTANTS = frozenset(("pi", "inf", "nan", "e"))


def _values(expression: ast.expr) -> Iterator[ast.Name]:
    """Names in an expression that are not called."""
    called = {id(each.func) for each in ast.walk(expression) if isinstance(each, ast.Call)}
    return (each for each in ast.walk(expression) if isinstance(each, ast.Name) and id(each) not in called)


def _refuses(operator: Operator | None, place: int) -> bool:
    """True if the operator has no number in that place, or is not known to have one."""
    if operator is None:
        return True
    return place < len(operator.inputs) and len(accepted_types(operator, operator.inputs[place])) == 1


def _is_math_call(function: str, arguments: Sequence[ast.expr]) -> bool:
    """True for a call of a function of Python's `math` with constant arguments."""
    constant = all(isinstance(each, ast.Constant) or getattr(each, "id", None) in _CONSTANTS for each in arguments)
    return constant and hasattr(math, function)


def read(
    operator: Operator,
    derivative: Derivative,
    same: Mapping[str, Operator],
    python: bool = False,
    cache: Cache = NO_CACHE,
) -> Formula:
    """The formula of a derivative. `same` maps functions of the language to operators; with `python` the formula is
    Python in any family."""
    in_language = operator.family.in_language and not python and not derivative.calls
    if in_language and len(operator.labels) > 1:
        return _of_results(operator, derivative, same)
    text = guards.guarded(operator, derivative, cache) if in_language else derivative.formula
    if text is None:
        return Formula(None)
    found = _read(operator, text, same, in_language)
    return found if derivative.grads is None else found.joined(grads(operator, derivative.grads))


def grads(operator: Operator, text: str) -> Formula:
    """Return the formula that stands for the gradients by the results."""
    return _read(operator, text, {}, False)


def _of_results(operator: Operator, derivative: Derivative, same: Mapping[str, Operator]) -> Formula:
    """The sum of the parts that are due to the gradients of several results, as far as there are such."""
    if derivative.tree is None:
        return Formula(None)
    total = Formula("")
    for label in operator.labels:
        tree, grad = term_of(derivative.tree, label, operator.labels), grad_name(label)
        text = guards.guarded(operator, replace(derivative, text=guards.AUTO, tree=tree))
        if text is not None and grad in names(tree):
            part = _read(operator, text, same, True)
            total = replace(total.joined(part), text=f"{total.text}{part.text} if {grad} is not None else None, ")
    function = "total" if "total" not in arguments(operator) else '_globals["total"]'
    return replace(total, text=f"{function}({total.text})")


def _read(operator: Operator, text: str, same: Mapping[str, Operator], in_language: bool) -> Formula:
    if text.lstrip("-").isdigit():
        text = f"{text} * grad"
    reader = _Reader(operator, same, in_language)
    tree = ast.fix_missing_locations(reader.visit(ast.parse(" ".join(text.split()), mode="eval")))
    used, gradients = frozenset(reader.names), frozenset(reader.gradients)
    facts, results = frozenset(reader.facts), frozenset(reader.results)
    return Formula(ast.unparse(tree), used, facts, results, gradients, reader.conditions)


def functions(operators: Sequence[Operator]) -> dict[str, Operator]:
    """Operators by the functions of the expression language that they compute."""
    found: dict[str, Operator] = {}
    own = {operator.name for operator in operators}
    for operator in operators:
        tree = operator.body.single
        if isinstance(tree, Apply) and tree.function in FUNCTIONS:
            taken = [each.name for each in tree.args if isinstance(each, Name)]
            alike = taken == [each.name for each in operator.inputs]
            if alike and (tree.function not in own or operator.name == tree.function or takes_complex(operator)):
                found.setdefault(tree.function, operator)
                if takes_complex(operator):
                    found[tree.function] = operator
    return found
