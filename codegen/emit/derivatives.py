"""opweave/_derivatives.py: a class of graph nodes for each operator, made of the formulas in its entry.

A class says which inputs have gradients, what it saves of a call and how the gradients follow from that: `x.shape` in
a formula saves the shape alone. An elementwise formula is written twice: as one kernel (codegen/emit/backward.py) for
the usual backward pass, and as operators, for those that are differentiated again and for complex numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from ..cache import NONE as NO_CACHE
from ..cache import Cache
from ..dtypes import BOOL, COMPLEX128
from ..expr import is_linear
from ..expr import names as names_of
from ..model import computation, inference
from ..model.operator import Body, Elementwise, End, Family, Operator, grad_name
from . import backward, formulas
from .formulas import Formula, takes_complex, variable
from .python import Package
from .registry import indexed
from .text import render, render_macro

_MULTIPLIED = (Family.ELEMENTWISE, Family.EXTERN, Family.REDUCE, Family.SCAN, Family.ROWS, Family.COMPUTE, Family.FOLD)
"""Families whose formulas are products of `grad` and a derivative, written without conjugates."""


_ZERO = re.compile(r"(?:0 \* grad|zeros_like\(grad\)|undefined\(grad\)|grad\.new_zeros\(.*\))\Z")
"""Formulas of results that are constant but where they jump."""


@dataclass(frozen=True)
class GradFormula:
    """The gradient by one input: its formula as Python, and the index of its kernel, if there is one."""

    name: str
    formula: str | None
    kernel: int | None
    operands: tuple[str, ...]
    of_complex: str | None
    """The formula for complex numbers, if it differs."""
    needed_by: tuple[str, ...]
    """The input itself, and the inputs whose formulas use this gradient."""
    grads: tuple[str, ...]
    """The gradients that the formula of an operator with several results uses, some of which may be absent."""

    @property
    def condition(self) -> str:
        asked = " or ".join(f"_to_{name}" for name in self.needed_by)
        given = " or ".join(f"{grad} is not None" for grad in self.grads)
        return f"{asked} and ({given})" if given else asked

    shared: str | None = None
    """The expression that gives the gradients by several inputs at once."""

    @property
    def returned(self) -> str:
        gradient = f"by_{self.name}"
        return gradient if len(self.needed_by) == 1 else f"{gradient} if _to_{self.name} else None"


@dataclass(frozen=True)
class SavedInput:
    """An input that is saved if a gradient is needed whose formula uses it."""

    name: str
    needed_by: tuple[str, ...]
    is_list: bool
    condition: str | None
    """A condition on the other arguments under which formulas use the input."""

    def text(self, edges: Sequence[str]) -> str:
        """The Python of the argument that is saved."""
        star = "*" * self.is_list
        conditions = [] if self.condition is None else [self.condition]
        if len(self.needed_by) < len(edges):
            asked = " or ".join(f"_to_{name}" for name in self.needed_by)
            conditions.append(f"({asked})" if conditions and len(self.needed_by) > 1 else asked)
        absent = "()" if self.is_list else "None"
        if not conditions:
            return star + self.name
        text = f"{self.name} if {' and '.join(conditions)} else {absent}"
        return f"*({text})" if self.is_list else text

    @property
    def target(self) -> str:
        """The C expression that the saved value is assigned to."""
        return "*" * self.is_list + self.name


@dataclass(frozen=True)
class NodeClass:
    """Context of derivatives.py.j2 for one class."""

    name: str
    operator: str
    parameters: tuple[str, ...]
    listed: bool
    inputs: tuple[int, ...]
    """The indices of the arguments that have gradients."""
    gradients: tuple[GradFormula, ...]
    tensors: tuple[SavedInput, ...]
    values: tuple[tuple[str, str], ...]
    absent: tuple[tuple[str, str], ...]
    grads: tuple[str, ...]
    results: tuple[int, ...]
    result_names: tuple[str, ...]
    results_needed_by: tuple[int, ...]
    """The indices of the edges whose formulas use results."""
    result_conditions: tuple[str | None, ...]
    """The condition on saved arguments under which formulas use a saved result, for each of these."""
    saved_names: tuple[tuple[str, ...], ...]
    """Torch's attribute names of saved inputs, other values and results, such as `_saved_self`."""
    holomorphic: bool
    takes_complex: bool
    first_grad: tuple[str, ...]
    """Gradients of which `grad` is one that there is."""
    is_complex: str
    """Python condition that is true for calls with complex numbers."""
    replaced: tuple[str, str] | None
    """The gradients by the results, and what stands for them in the formulas."""
    may_shift: bool
    """True if the result may be another one than zero where all tensors with a gradient are zero."""
    multiplies: bool
    """True if the result is a sum of products, which is zero where one factor is."""
    of_elements: tuple[tuple[int, ...], ...] | None
    """The groups of `linear` by the expressions of an elementwise operator; None: it is of another family."""

    @property
    def linear(self) -> tuple[tuple[int, ...], ...]:
        """The arguments, by their indices, of which together the result is a linear function while all others stay: no
        gradient by one of them uses another one. Empty where there is a gradient that uses its own argument or a
        result, where a result may be shifted, or is one of several that no gradient follows from, so that it may be a
        constant. Expressions of elements say it themselves."""
        if self.of_elements is not None:
            return self.of_elements
        used = {saved.name: saved.needed_by for saved in self.tensors}
        given = [(place, each.name, each.formula) for place, each in zip(self.inputs, self.gradients, strict=True)]
        formulas = [(place, name) for place, name, formula in given if formula is not None]
        is_zero = any(formula is not None and _ZERO.match(formula) for _, _, formula in given)
        texts = " ".join(formula for _, _, formula in given if formula is not None)
        is_constant = any(each.partition("=")[0] not in texts for each in self.grads if each[0] != "*")
        shifts = self.may_shift or self.results or is_zero or is_constant
        if shifts or any(name in used.get(name, ()) for _, name in formulas):
            return ()
        groups: list[tuple[int, ...]] = []
        for first in formulas:
            group = [first]
            for other in formulas:
                uses = (
                    each in used.get(name, ())
                    for _, last in group
                    for name, each in ((other[1], last), (last, other[1]))
                )
                if other not in group and not any(uses):
                    group.append(other)
            places = tuple(sorted(place for place, _ in group))
            if places not in groups:
                groups.append(places)
        return tuple(groups) if len(groups) == 1 or self.multiplies else ()

    @property
    def in_order(self) -> list[GradFormula]:
        """The gradients in an order in which each follows those that its formula uses."""
        return sorted(self.gradients, key=lambda gradient: -len(gradient.needed_by))

    @property
    def shared(self) -> tuple[str, str] | None:
        """An expression of gradients by several inputs, and the condition under which one of them is needed."""
        users = [gradient for gradient in self.gradients if gradient.shared is not None]
        if not users:
            return None
        return users[0].shared or "", " or ".join(gradient.condition for gradient in users)

    @property
    def edges(self) -> tuple[str, ...]:
        return tuple(f"_to_{gradient.name}" for gradient in self.gradients)

    @property
    def conditional(self) -> bool:
        return any(" if " in saved.text(self.edges) for saved in self.tensors)

    @property
    def results_condition(self) -> str | None:
        """Python condition under which results are saved; None if they always are."""
        if self.listed or len(self.results_needed_by) == len(self.edges):
            return None
        return " or ".join(self.edges[index] for index in self.results_needed_by)

    @property
    def has_kernels(self) -> bool:
        return any(gradient.kernel is not None for gradient in self.gradients)


def emit_class(operator: Operator, operators: Sequence[Operator]) -> str:
    """The class of one operator; `operators` are all operators that its formulas may call."""
    kernels = backward.indices(operators, len(indexed(operators)))
    return render_macro("derivative.j2", "derivative", _derived(operator, kernels, formulas.functions(operators)), None)


def emit(
    operators: Sequence[Operator],
    source: str,
    output: str,
    package: Package | None = None,
    cache: Cache = NO_CACHE,
) -> str:
    """Return the text of the module of derivatives."""
    kernels = backward.indices(operators, len(indexed(operators)))
    same = formulas.functions(operators)
    return render(
        "derivatives.py.j2",
        source,
        output,
        classes=[_derived(each, kernels, same, cache) for each in operators if each.derivatives],
        package=package,
    )


def linear(operators: Sequence[Operator]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """For each operator that has some, the groups of arguments of which together it is a linear function."""
    kernels = backward.indices(operators, len(indexed(operators)))
    same = formulas.functions(operators)
    found = {}
    for operator in operators:
        groups = _derived(operator, kernels, same).linear if operator.derivatives else ()
        if groups:
            names = formulas.arguments(operator)
            found[operator.name] = tuple(tuple(names[place] for place in group) for group in groups)
    return found


def _derived(
    operator: Operator,
    kernels: Mapping[tuple[str, str], int],
    same: Mapping[str, Operator],
    cache: Cache = NO_CACHE,
) -> NodeClass:
    names = formulas.arguments(operator)
    read = {
        name: formulas.read(operator, derivative, same, cache=cache)
        for name, derivative in operator.derivatives.items()
    }
    by_name = {
        name: formula.joined(formulas.read(operator, operator.complex_derivatives[name], {}, python=True))
        if name in operator.complex_derivatives else formula
        for name, formula in read.items()
    }  # fmt: skip
    by_name = {name: _with_gradients(formula, by_name) for name, formula in by_name.items()}
    differentiated = _differentiated(operator)
    users = {
        name: [each for each in differentiated if each in by_name and name in by_name[each].gradients] for name in names
    }
    lists = {argument.name for argument in operator.schema.arguments if argument.is_tensor_list}
    tensors = {argument.name for argument in operator.schema.arguments if argument.is_tensor} | lists
    used = {
        name: [each for each in differentiated if each in by_name and name in by_name[each].names] for name in names
    }
    listed = _is_listed(operator)
    conditions = dict(reduce(Formula.joined, by_name.values()).conditions)
    saved = [
        SavedInput(variable(name), tuple(map(variable, used[name])), name in lists, conditions.get(name))
        for name in names
        if used[name] and name in tensors
    ]
    values = [(variable(name), variable(name)) for name in names if used[name] and name not in tensors]
    facts = sorted({fact for each in by_name.values() for fact in each.facts})
    values += [(f"{variable(name)}_{fact}", _fact(operator, name, fact)) for name, fact in facts]
    results = {index: name for each in by_name.values() for name, index in each.results}
    body = operator.body
    return NodeClass(
        name="".join(word[:1].upper() + word[1:] for word in operator.name.split("_")) + "Backward0",
        operator=operator.name,
        parameters=tuple(map(variable, names)),
        listed=listed,
        inputs=tuple(names.index(name) for name in differentiated),
        gradients=tuple(_gradient(operator, name, read.get(name), kernels, users[name]) for name in differentiated),
        tensors=tuple(saved),
        values=tuple(values),
        absent=tuple(_absent(body, used)),
        grads=_grads(operator),
        results=tuple(sorted(results)),
        result_names=tuple(results[index] for index in sorted(results)),
        result_conditions=tuple(conditions.get(results[index]) for index in sorted(results)),
        saved_names=(
            tuple(name for name in names if used[name] and name in tensors),
            (
                *(name for name in names if used[name] and name not in tensors),
                *(f"{name}_{_SAVED_FACTS.get(fact, fact)}" for name, fact in facts),
            ),
            tuple(_saved_result(results[index]) for index in sorted(results)),
        ),
        results_needed_by=tuple(
            index for index, name in enumerate(differentiated) if name in by_name and by_name[name].results
        ),
        holomorphic=_is_holomorphic(operator),
        first_grad=_optional_grads(operator) if operator.family.in_language and len(operator.labels) > 1 else (),
        takes_complex=takes_complex(operator),
        is_complex=_is_complex(operator, names[0]),
        replaced=_replaced(operator),
        may_shift=_may_shift(operator),
        multiplies=operator.family in (Family.EXTERN, Family.COMPUTE),
        of_elements=_of_elements(body, operator.derivatives, names) if isinstance(body, Elementwise) else None,
    )


def _of_elements(body: Elementwise, inputs: Collection[str], names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The largest groups of inputs in which all expressions are linear, those of bool excepted: there sums are `or`."""
    if not body.is_single or body.absent:
        return ()
    trees = [expressions[0].tree for dtypes, expressions in body.cases if dtypes != {BOOL}]
    groups: list[tuple[str, ...]] = []
    for size in range(len(inputs), 0, -1):
        for group in combinations(inputs, size):
            if not any(set(group) <= set(other) for other in groups) and all(is_linear(tree, group) for tree in trees):
                groups.append(group)
    return tuple(tuple(sorted(map(names.index, group))) for group in groups)


def _may_shift(operator: Operator) -> bool:
    """Composites may add the numbers that they take, and indexing may choose a product."""
    if operator.family is Family.COMPOSITE:
        return any(each.is_scalar or each.is_real for each in operator.schema.arguments)
    return bool(operator.body.words) or operator.family in (Family.FACTORY, Family.RANDOM)


def _replaced(operator: Operator) -> tuple[str, str] | None:
    texts = [each.grads for each in operator.derivatives.values() if each.grads is not None]
    if not texts:
        return None
    names = [name.partition("=")[0] for name in _grads(operator)]
    return ", ".join(names), formulas.grads(operator, texts[0]).text or ""


_SAVED_FACTS = {"shape": "sym_sizes"}


def _saved_result(name: str) -> str:
    """Torch's name of a saved result: `result`, or of several `indices` by name or `result0` by index."""
    rest = name.removeprefix("result_")
    return f"result{rest}" if rest.isdigit() else rest


def _with_gradients(formula: Formula, others: Mapping[str, Formula]) -> Formula:
    """Merge in the saved values of every gradient that this formula refers to (`by_NAME`)."""
    for name in formula.gradients:
        formula = formula.joined(others[name])
    return formula


def _gradient(
    operator: Operator,
    name: str,
    formula: Formula | None,
    kernels: Mapping[tuple[str, str], int],
    users: Sequence[str],
) -> GradFormula:
    kernel = kernels.get((operator.name, name))
    tree = operator.derivatives[name].tree if kernel is not None else None
    tensors, numbers = ([], []) if tree is None else backward.arguments(operator, tree)
    labels = operator.labels if operator.family.in_language and len(operator.labels) > 1 else ()
    formula_tree = operator.derivatives[name].tree if labels and name in operator.derivatives else None
    used = frozenset[str]() if formula_tree is None else names_of(formula_tree)
    grads = tuple(grad_name(label) for label in labels if grad_name(label) in used)
    operands = tuple(
        f"0.0 if {each} is None else {each}" if each in grads else variable(each) for each in (*tensors, *numbers)
    )
    of_complex = operator.complex_derivatives.get(name)
    text = None if of_complex is None else formulas.read(operator, of_complex, {}, python=True).text
    needed_by = tuple(map(variable, (name, *users)))
    own = None if formula is None else formula.text
    place = operator.derivatives[name].place if name in operator.derivatives else None
    if place is not None:
        return GradFormula(variable(name), f"_every[{place}]", kernel, operands, text, needed_by, grads, own)
    return GradFormula(variable(name), own, kernel, operands, text, needed_by, grads)


def _is_listed(operator: Operator) -> bool:
    """True if the gradient is a list, one for each tensor of a list."""
    return any(operator.schema.argument(name).is_tensor_list for name in operator.derivatives)  # type: ignore[union-attr]


def _differentiated(operator: Operator) -> list[str]:
    """The inputs in the order of the gradients; for a composite or a routine those with formulas."""
    if operator.family in (Family.COMPOSITE, Family.CORE):
        return [argument.name for argument in operator.schema.arguments if argument.name in operator.derivatives]
    return [argument.name for argument in operator.inputs]


def _fact(operator: Operator, name: str, fact: str) -> str:
    saved = variable(name)
    if fact == "geometry":
        return f"geometry({saved})"
    argument = operator.schema.argument(name)
    if argument is not None and argument.is_tensor_list:
        return f"[each.{fact} for each in {saved}]"
    optional = argument is not None and argument.is_tensor and argument.is_optional
    return f"{saved} if {saved} is None else {saved}.{fact}" if optional else f"{saved}.{fact}"


def _grads(operator: Operator) -> tuple[str, ...]:
    """Parameters for the gradients of the results: `grad`, a `grad_NAME` for each of several, or `*grads`."""
    returns = operator.schema.returns
    if operator.returns_list:
        return ("*grads",)
    if len(returns) == 1:
        return ("grad",)
    # Without `dim` some operators return their first result alone.
    return tuple(f"{name}=None" for name in _optional_grads(operator))


def _optional_grads(operator: Operator) -> tuple[str, ...]:
    return tuple(map(grad_name, operator.labels))


def _absent(body: Body, used: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The values that formulas use for optional arguments that are None."""
    for name, value in body.absent.items():
        if not used[name]:
            continue
        text = {End.LOWEST: "-inf", End.HIGHEST: "inf"}[value] if isinstance(value, End) else repr(value)
        yield variable(name), text


def _is_holomorphic(operator: Operator) -> bool:
    """True if the formulas are products of `grad` and complex derivatives, whose conjugate must be taken."""
    expressions = operator.body.values(COMPLEX128) if operator.family.in_language else ()
    by_parts = any(inference.uses_parts(each.tree) for each in expressions)
    products = operator.family in _MULTIPLIED and not by_parts and not operator.complex_derivatives
    return products and takes_complex(operator)


def _is_complex(operator: Operator, first: str) -> str:
    return f"{variable(first)}.dtype.is_complex" if computation.turns_real(operator) else "grad.dtype.is_complex"
