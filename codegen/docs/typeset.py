"""Equations, in LaTeX, of what an operator computes and of its gradients, for documentation.

The first operand `self` is x, the result y, the loss L and its gradient by the result g. Equations that would be longer
than a page is wide are left out: the entry itself is easier to read then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..dtypes import DTYPE_CLASSES, DType
from ..expr import Expr
from ..expr.atoms import Atom, Fold, Integer, Named, Read
from ..expr.latex import escaped, function_latex, name_latex, to_latex
from ..expr.python_text import python_text
from ..expr.text import PRODUCT, TERNARY
from ..expr.typed import Node
from ..model.accumulation import COMBINATIONS, Accumulation
from ..model.body import Body
from ..model.compute import Compute
from ..model.elementwise import Elementwise
from ..model.folding import Folding
from ..model.operator import Operator, grad_name
from ..model.rows import Extent, Rows
from .results import named

LONGEST = 700
"""Characters of LaTeX beyond which an equation is not typeset."""
_REDUCTIONS = {
    "sum": r"\sum", "product": r"\prod", "prod": r"\prod", "max": r"\max", "min": r"\min", "any": r"\bigvee",
    "all": r"\bigwedge", "argmax": r"\operatorname{argmax}", "argmin": r"\operatorname{argmin}",
}  # fmt: skip
_ELEMENT, _BEFORE = "k", "k - 1"


@dataclass(frozen=True)
class GradientFormula:
    """The gradient by one argument: LaTeX of it, or the text of a formula that is Python."""

    argument: str
    latex: str | None
    text: str


def equations(operator: Operator) -> list[str]:
    """LaTeX of what the body computes, an equation each; none where the body is no expression, or a long one."""
    found = list(_equations(operator, operator.body.loops or operator.body))
    return found if all(len(each) <= LONGEST for each in found) else []


def gradients(operator: Operator) -> list[GradientFormula]:
    """The gradients that an entry declares, by its arguments."""
    names = _names(operator) | {grad_name(label): _labelled("g", label) for label in operator.labels}
    found = []
    for argument, derivative in operator.derivatives.items():
        text, latex = derivative.formula, None
        if text is not None and derivative.tree is not None and not derivative.calls:
            value = to_latex(derivative.tree, names)
            equation = rf"\frac{{\partial L}}{{\partial {names.get(argument) or name_latex(argument)}}} = {value}"
            latex = equation if len(equation) <= LONGEST else None
        if text is not None:
            found.append(GradientFormula(argument, latex, text))
    return found


def _names(operator: Operator) -> dict[str, str]:
    taken = {argument.name for argument in operator.schema.arguments}
    results = {f"result_{label}" if label else "result": _labelled("y", label) for label in operator.labels}
    return results | ({} if "x" in taken else {"self": "x"})


def _labelled(letter: str, label: str) -> str:
    return rf"{letter}_{{\mathrm{{{label}}}}}" if label else letter


def _equations(operator: Operator, body: Body) -> Iterator[str]:
    names = _names(operator)
    results = [names[f"result_{label}" if label else "result"] for label in operator.labels]
    if isinstance(body, Elementwise) and body.iterate is None:
        yield from _cases(body, names, results)
    elif isinstance(body, Accumulation):
        yield _accumulation(body, names)
    elif isinstance(body, Rows):
        yield from _rows(operator, body, names, results)
    elif isinstance(body, Folding):
        yield from _folding(operator, body, names, results)
    elif isinstance(body, Compute) and body.rounds is None and not body.places:
        yield from _over_indices(body.with_names or body.rolled or body)


def _cases(body: Elementwise, names: Mapping[str, str], results: list[str]) -> Iterator[str]:
    """An equation for each result, and for each class of dtypes where they differ."""
    seen: dict[tuple[Expr, ...], frozenset[DType]] = {}
    for dtypes, expressions in body.cases:
        trees = tuple(each.tree for each in expressions)
        seen[trees] = seen.get(trees, frozenset()) | dtypes
    for trees, dtypes in seen.items():
        condition = rf"\quad \text{{for {named(dtypes & DTYPE_CLASSES['any'])}}}" if len(seen) > 1 else ""
        for result, tree in zip(results, trees, strict=True):
            yield f"{result} = {to_latex(tree, names)}{condition}"


def _accumulation(body: Accumulation, names: Mapping[str, str]) -> str:
    element = {**names, "self": f"x_{_ELEMENT}"}
    value = element["self"] if body.map is None else to_latex(body.map.tree, element, PRODUCT)
    word = COMBINATIONS.get(getattr(body.combine.tree, "function", ""))
    if word is None:
        before = {"acc": rf"\mathit{{acc}}_{{{_BEFORE}}}", "self": value}
        return rf"\mathit{{acc}}_{_ELEMENT} = {to_latex(body.combine.tree, before)}"
    if body.is_scan:
        return rf"y_{_ELEMENT} = {_REDUCTIONS[word]}_{{j \le {_ELEMENT}}} x_j"
    total = f"{_REDUCTIONS[word]}_{_ELEMENT} {value}"
    if body.finalize is None:
        return f"y = {total}"
    return f"y = {to_latex(body.finalize.tree, {'acc': total, 'count': 'n'})}"


def _rows(operator: Operator, body: Rows, names: Mapping[str, str], results: list[str]) -> Iterator[str]:
    whole = {*body.per_row, *(each.name for each in operator.params)}
    element = {
        each.name: f"{names.get(each.name) or name_latex(each.name)}_{_ELEMENT}"
        for each in operator.inputs
        if each.name not in whole
    }
    known = {**names, **element}
    for let in body.lets:
        value = to_latex(let.expression.tree, known, PRODUCT if let.combine else TERNARY)
        yield f"{name_latex(let.name)} = {f'{_combined(let.combine)} ' if let.combine else ''}{value}"
    for result, (extent, expression) in zip(results, body.outputs, strict=True):
        place = "" if extent is Extent.ROW else f"_{_ELEMENT}"
        yield f"{result}{place} = {to_latex(expression.tree, known)}"


def _combined(word: str) -> str:
    return f"{_REDUCTIONS.get(word) or function_latex(word)}_{_ELEMENT}"


def _folding(operator: Operator, body: Folding, names: Mapping[str, str], results: list[str]) -> Iterator[str]:
    """The state after an element, in terms of the one before it, and the results in terms of the state."""
    element = {each.name: f"{names.get(each.name) or name_latex(each.name)}_{_ELEMENT}" for each in operator.inputs}
    before = {name: f"{name_latex(name)}_{{{_BEFORE}}}" for name in body.names}
    after = {name: f"{name_latex(name)}_{_ELEMENT}" for name in body.names}
    if body.joins:
        for name, each in zip(body.names, body.element, strict=True):
            before[f"other_{name}"] = f"({to_latex(each.tree, {**names, **element})})"
    for name, each in zip(body.names, body.following, strict=True):
        yield f"{after[name]} = {to_latex(each.tree, {**names, **element, **before})}"
    for result, each in zip(results, body.results, strict=False):
        place = f"_{_ELEMENT}" if body.is_scan else ""
        yield f"{result}{place} = {to_latex(each.tree, {**names, **element, **after, 'count': 'n'})}"


# ---- expressions over indices -------------------------------------------------------------------------------


def _over_indices(body: Compute) -> Iterator[str]:
    """An equation for each result. Index variables may be called x and y, so tensors have their own names here."""
    known = {"self": r"\mathit{input}", **{name: _geometry(tree, body) for name, tree in body.uniforms.items()}}
    for name, atom in body.used.items():
        known[name] = _atom(atom, known)
    places = ", ".join(map(name_latex, body.names))
    for result in body.results:
        name = name_latex(result.name or "result")
        yield f"{name}_{{{places}}} = {to_latex(result.tree, known)}"


def _geometry(tree: Node, body: Compute) -> str:
    text = python_text(tree, dict(body.let))
    return name_latex(text) if text.isidentifier() else rf"\mathtt{{{escaped(text)}}}"


def _atom(atom: Atom, known: Mapping[str, str]) -> str:
    match atom:
        case Read(tensor, indices, batched):
            places = ([r"\ldots"] if batched else []) + [to_latex(each, known) for each in indices]
            base = known.get(tensor) or name_latex(tensor)
            return f"{base}_{{{', '.join(places)}}}" if places else base
        case Fold(reduction, value, ranges, condition):
            bounds = [
                rf"{to_latex(each.first, known)} \le {name_latex(each.name)} < {to_latex(each.stop, known)}"
                for each in ranges
            ]
            if condition is not None:
                bounds.append(to_latex(condition, known))
            return rf"{_REDUCTIONS[reduction]}_{{{', '.join(bounds)}}} {to_latex(value, known, PRODUCT)}"
        case Integer(value):
            return rf"\operatorname{{int}}({to_latex(value, known)})"
        case Named(word):
            return name_latex(word)
