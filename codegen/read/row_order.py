"""Rows in an order as Python: the elements are put in order, operators of rows compute what belongs together, between
them values run along the rows and elements are taken, and the results go back to their places.

    top_p(self, p) -> sort(top_p_order(self)), gather, top_p_values(self), cumsum, top_p_results(self, ...), scatter

The operators of rows have their derivatives; to these the order is a constant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import BOOL, DTYPE_CLASSES, FLOAT32, FLOAT64, INT64, DType, Promotion
from ..errors import Diagnostics
from ..expr import Expr, ExpressionError, Literal, Name, derive, names, simplify, substitute
from ..model.computation import own_dtypes
from ..model.operator import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    Composite,
    Derivative,
    Elementwise,
    Expression,
    Extent,
    Let,
    Operator,
    Rows,
    needed,
)
from ..model.ordered_rows import PLACE, RANK, OrderedFolding, OrderedRows, Running, Taken, used_later
from .adjoints import AUTO, refuse_formulas
from .bodies.shared import only_conditions
from .internal import internal, returned, scalar_of, unused

_HELPERS = (
    "row_layout",
    "in_dtype_of_computation",
    "row_lines",
    "row_order",
    "row_places",
    "row_element",
    "row_result",
    "row_count",
)

_Output = tuple[str, Extent, Expression, DType | None]


def follow(operator: Operator, body: Rows, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator as Python, and those that it calls; None where it has no order."""
    return made_of(Parts(operator, body), diagnostics) if isinstance(body, OrderedRows) else None


def made_of(parts: Parts, diagnostics: Diagnostics) -> list[Operator]:
    """The operator as Python, and those that it calls."""
    operator = parts.operator
    refuse_formulas(operator, f"the derivatives of {parts.kind} in an order follow", diagnostics)
    if not parts.numbers:
        diagnostics.report(operator.span, f"{parts.kind} in an order are of numbers", "a tensor that is no condition")
        return []
    made = list(parts.operators())
    called = {*_HELPERS, *(each.name for each in made[1:])}
    for argument in operator.schema.arguments:
        if argument.name in called:
            message = f"argument '{argument.name}' has the name of a function by which {parts.kind} are put in an order"
            diagnostics.report(operator.span, message, "rename it")
    for each in made[1:]:
        if len(each.inputs) > MAX_INPUTS or len(each.schema.returns) > MAX_OUTPUTS:
            message = f"a part of the {parts.kind} has more than {MAX_INPUTS} tensors or {MAX_OUTPUTS} results"
            diagnostics.report(operator.span, message, "write two operators, and a composite that calls both")
    return made


class Parts:
    """The Python of an operator whose lines have an order, and the operators that it calls."""

    kind = "rows"
    """The name of the lines in messages."""
    whole = False
    """True if positions along the lines are integers, and not of the dtype of computation."""

    def __init__(self, operator: Operator, body: OrderedRows | OrderedFolding, local: Collection[str] = ()) -> None:
        self.operator = operator
        self.body = body
        self.source = body.outputs[0][1].source
        inputs = [each.name for each in operator.inputs]
        taken = {each.name for each in operator.schema.arguments} | {step.name for step in body.steps} | {*_HELPERS}
        self.positions = {name for name in (RANK, PLACE) if operator.schema.argument(name) is None}.difference(local)
        self.layout, self.dtype, self.order = (unused(each, taken) for each in ("layout", "dtype", "order"))
        self.variables = {each: unused(each, taken) for each in self.positions}
        """The names in Python, where they differ from the entry's."""
        self.variables |= {step.name: f"{step.name}_" for step in body.steps if step.name in _HELPERS}
        self.taken = taken
        self.count = next(each for each in ("count", "count_") if each not in taken)
        self.numbers = [each for each in inputs if each not in body.fixed]
        self.extents = {name: _line(body.extent(name)) for name in inputs} | dict.fromkeys(
            self.positions, Extent.ELEMENT
        )
        """The tensors that are known so far."""
        self.pending: list[Let] = []
        self.lines: list[str] = []
        self.others: list[Operator] = []
        self.computed: dict[Expr, str] = {}
        """The positions that have been computed, and what they are called in Python."""
        self.moving = {name for name, each in operator.derivatives.items() if each.text == AUTO}
        """The names of arguments that have a gradient."""
        for step in body.steps:
            if self._moves(step.expression.tree):
                self.moving.add(step.name)

    # ---- the composite

    def operators(self) -> Iterator[Operator]:
        """The composite, and the operators that it calls."""
        self._begin()
        self._steps()
        self._end()
        automatic = tuple(name for name, each in self.operator.derivatives.items() if each.text == AUTO)
        yield replace(
            self.operator,
            body=Composite(
                scalar_of("\n".join(self.lines), self.source.span), None, loops=self.body, automatic=automatic
            ),
            derivatives=MappingProxyType({}),
        )
        yield from self.others

    def _begin(self) -> None:
        body, inputs = self.body, [each.name for each in self.operator.inputs]

        def pairs(tensors: Iterable[str]) -> str:
            return "".join(f"({each}, {body.extent(each).value!r}), " for each in tensors)

        self.lines.append(f"{self.layout} = row_layout({self.operator.name!r}, dim, ({pairs(inputs)}))")
        numbers = ", ".join(self.numbers)
        divides = self.operator.promotion is Promotion.INT_TO_FLOAT
        self.lines.append(f"{self.dtype}, {numbers} = in_dtype_of_computation({divides}, {numbers})")
        others = [each for each in inputs if each not in self.numbers]
        for tensors, exact in ((self.numbers, True), (others, False)):
            if tensors:
                self.lines.append(f"{', '.join(tensors)}, = row_lines({self.layout}, ({pairs(tensors)}), {exact})")
        elements = [each for each in inputs if self.extents[each] is Extent.ELEMENT]
        first = next((each for each in self.numbers if each in elements), elements[0])
        place, rank = (self.variables.get(each) for each in (PLACE, RANK))
        kind = "None" if self.whole else f"{self.numbers[0]}.dtype"
        used = {*used_later((), (each for each in body.expressions if each is not body.key))}
        if body.key is None:
            for name, variable in ((PLACE, place), (RANK, rank)):
                if name in used and variable is not None:
                    self.lines.append(f"{variable} = row_places({first}, {kind})")
            return
        if place is not None and PLACE in {*used_later(body.before, [body.key])}:
            self.lines.append(f"{place} = row_places({first}, {kind})")
        self.pending = [*body.before]
        (key,) = self._values("order", [("", Extent.ELEMENT, body.key, None)])
        self.pending = []
        self.lines.append(f"{self.order} = row_order({key}, {first})")
        self.lines += [f"{each} = {each}.gather(-1, {self.order})" for each in elements if each in used]
        if place is not None and PLACE in used:
            self.lines.append(f"{place} = {self.order}" + ("" if self.whole else f".to({kind})"))
        if rank is not None and RANK in used:
            self.lines.append(f"{rank} = row_places({first}, {kind})")

    def _steps(self) -> None:
        waiting: list[Running | Taken] = []
        for index, step in enumerate(self.body.steps):
            if isinstance(step, Let):
                self.pending.append(step)
                continue
            read = {*used_later([step], ())}
            read |= {name for let in needed(self.pending, read) for name in names(let.expression.tree)}
            if not read.isdisjoint(each.name for each in waiting):
                self._flush(waiting, self.body.steps[index:])
                waiting = []
            waiting.append(step)
        if waiting:
            self._flush(waiting, ())

    def _flush(self, steps: Sequence[Running | Taken], following: Sequence[Let | Running | Taken]) -> None:
        """Computes what these steps need, and the steps. Reductions that are needed later as well are results."""
        outputs: list[_Output] = [(each.name, Extent.ELEMENT, each.expression, None) for each in steps]
        positions = {each.name: self._of_reductions(each.position) for each in steps if isinstance(each, Taken)}
        reductions = {let.name: let for let in self.pending if let.combine is not None}
        here = {let.name for let in needed(self.pending, (n for o in outputs for n in names(o[2].tree)))}
        later = used_later(following, (each for _, each in self.body.outputs))
        shared = {let.name for let in needed(self.pending, later)} & here
        shared |= {name for each in positions.values() for name in names(each.tree)}
        outputs += [
            (name, Extent.ROW, Expression(Name(name), let.expression.source), None)
            for name, let in reductions.items()
            if name in shared
        ]
        values = self._values("values", outputs)
        for name, value in zip((each[0] for each in outputs[len(steps) :]), values[len(steps) :], strict=True):
            self._known(name, Extent.ROW, value)
        self.pending = [let for let in self.pending if let.name not in self.extents]
        for step, value in zip(steps, values, strict=False):
            if isinstance(step, Running):
                found = f"{value}.{step.function}(-1)" + ("[0]" if step.function in ("cummax", "cummin") else "")
            else:
                position = self._position(positions[step.name])
                found = f"row_element({self.operator.name!r}, {value}, {position})"
            self._known(step.name, step.extent, found)

    def _known(self, name: str, extent: Extent, value: str) -> None:
        variable = self.variables.get(name, name)
        if variable != value:
            self.lines.append(f"{variable} = {value}")
        self.extents[name] = extent

    def _of_reductions(self, position: Expression) -> Expression:
        """A position in which values of the row that follow from others are replaced by what they are."""
        tree = position.tree
        for let in reversed(self.pending):
            if let.combine is None:
                tree = substitute(tree, {let.name: let.expression.tree})
        return replace(position, tree=tree)

    def _end(self) -> None:
        body, of_results = self.body, own_dtypes(self.operator)
        labels = [each.name or "" for each in self.operator.schema.returns]
        values = self._results(
            [
                (label, extent if extent is Extent.ROW else Extent.ELEMENT, each, own)
                for label, (extent, each), own in zip(labels, body.outputs, of_results, strict=True)
            ]
        )
        order = "None" if body.key is None else self.order
        keepdim = "keepdim" if self.operator.schema.argument("keepdim") is not None else "False"
        results = []
        for value, (extent, _), own in zip(values, body.outputs, of_results, strict=True):
            found = f"row_result({self.layout}, {value}, {extent.value!r}, {order}, {keepdim})"
            results.append(found if own is not None else f"{found}.to({self.dtype})")
        self.lines.append(f"return {', '.join(results)}")

    def _results(self, outputs: Sequence[_Output]) -> list[str]:
        """Python for the results, along the lines in their order."""
        return self._values("results", outputs)

    def _moves(self, tree: Expr) -> bool:
        """Return True if the value depends, other than by steps, on arguments that have a gradient."""
        try:
            return any(simplify(derive(tree, name)) != Literal(0) for name in names(tree) & self.moving)
        except ExpressionError:
            return True  # which is reported where the derivative is needed

    # ---- operators of rows

    def _values(self, end: str, outputs: Sequence[_Output]) -> list[str]:
        """Python for these values: tensors that are there, or results of an operator of rows."""
        made = [each for each in outputs if not self._is_there(each)]
        found = {each[0]: self.variables.get(t.name, t.name) for each in outputs if isinstance(t := each[2].tree, Name)}
        if made:
            targets = [
                self.variables.get(label, label) if extent is Extent.ROW and label in self._reductions() else
                unused(f"{label or 'value'}_{end}", self.taken)
                for label, extent, _, _ in made
            ]  # fmt: skip
            operator = self._rows(end, made)
            constant = end == "order" or not any(each.text == AUTO for each in operator.derivatives.values())
            self.lines.append(f"{', '.join(targets)} = {self._call(operator, constant and bool(self.moving))}")
            found |= {each[0]: target for each, target in zip(made, targets, strict=True)}
        return [found[each[0]] for each in outputs]

    def _reductions(self) -> set[str]:
        return {let.name for let in self.pending}

    def _is_there(self, output: _Output) -> bool:
        _, extent, expression, own = output
        tree = expression.tree
        return isinstance(tree, Name) and own is None and self.extents.get(tree.name) is extent

    def _rows(self, end: str, outputs: Sequence[_Output]) -> Operator:
        lets = needed(self.pending, (name for each in outputs for name in names(each[2].tree)))
        trees = [*(let.expression.tree for let in lets), *(each[2].tree for each in outputs)]
        used = frozenset[str]().union(*map(names, trees))
        tensors = [each for each in self.extents if each in used]
        if not any(self.extents[each] is Extent.ELEMENT for each in tensors):
            tensors.append(next(each for each in self.numbers if self.extents[each] is Extent.ELEMENT))
        body = Rows(
            lets=lets,
            outputs=tuple((extent, each) for _, extent, each, _ in outputs),
            per_row=frozenset(each for each in tensors if self.extents[each] is Extent.ROW),
            fixed=only_conditions(tensors, trees),
            own=tuple(own for *_, own in outputs),
        )
        arguments = [f"Tensor {each}" for each in tensors]
        arguments += ["int[1]? dim", "bool keepdim"]
        arguments += [f"{each.type} {each.name}" for each in self.operator.params if each.name in used]
        name = self._name(end)
        returns = returned(f"value_{index}" for index in range(len(outputs)))
        made = internal(
            self.operator,
            f"{name}({', '.join(arguments)}) -> {returns}",
            body,
            f"A part of `{self.operator.name}`.",
            dtypes=dtypes_of_parts(self.operator),
            promotion=Promotion.DEFAULT,
            derivatives=MappingProxyType(dict(self._derivatives(tensors, body, end == "order"))),
        )
        self.others.append(made)
        return made

    def _derivatives(self, tensors: Sequence[str], body: Rows, is_order: bool) -> Iterator[tuple[str, Derivative]]:
        """`auto` of what has a gradient, where a result depends on it."""
        given = self.operator.derivatives
        source = next((each.source for each in given.values()), self.source)
        results = {name for _, each in body.outputs for name in names(each.tree)}
        used = results | {name for let in needed(body.lets, results) for name in names(let.expression.tree)}
        constant = is_order or not any(self._moves(each.tree) for _, each in body.outputs)
        for name in tensors:
            if name in body.fixed or not given:
                continue
            if constant or given.get(name, Derivative(AUTO, source)).text != AUTO:
                yield name, Derivative("none", source)
            else:
                moves = name in used and name in self.moving
                yield name, given.get(name, Derivative(AUTO, source)) if moves else Derivative("None", source)

    def _name(self, end: str) -> str:
        name = f"{self.operator.name}_{end}"
        others = {each.name for each in self.others}
        return next(each for number in range(len(others) + 1) if (each := f"{name}{number or ''}") not in others)

    def _call(self, made: Operator, detached: bool = False) -> str:
        fixed = made.body.fixed
        arguments = []
        for each in made.schema.arguments:
            variable = self.variables.get(each.name, each.name)
            if each.is_tensor and fixed.get(each.name) is BOOL and each.name not in self.body.fixed:
                variable += ".bool()"
            elif self.whole and each.name in self.positions and each.name not in fixed:
                variable += f".to({self.numbers[0]}.dtype)"
            arguments.append(f"{variable}.detach()" if each.is_tensor and detached else variable)
        known = {"dim": "-1", "keepdim": "True"}
        return f"{made.name}({', '.join(known.get(each, each) for each in arguments)})"

    # ---- positions

    def _position(self, position: Expression) -> str:
        """Python for the position of an element: a number, a tensor, or what an operator computes. That is in the dtype
        of other expressions, so that these agree, or in float64 where it is of integers."""
        tree = position.tree
        if isinstance(tree, Literal):
            return str(tree.value)
        if isinstance(tree, Name) and tree.name in self.extents:
            return self.variables.get(tree.name, tree.name)
        if tree not in self.computed:
            tensors = [each for each in self.extents if each in names(tree)]
            fixed = only_conditions(tensors, [tree])
            params = [f"{each.type} {each.name}" for each in self.operator.params if each.name in names(tree)]
            schema = f"({', '.join([*(f'Tensor {each}' for each in (*tensors, 'count')), *params])}) -> Tensor"
            made = internal(
                self.operator,
                self._name("position") + schema,
                Elementwise(((DTYPE_CLASSES["any"], (position,)),), fixed, {}, {}),
                f"A position of `{self.operator.name}`.",
                dtypes=frozenset({FLOAT32, FLOAT64}),
                promotion=Promotion.DEFAULT,
                derivatives=MappingProxyType(dict.fromkeys((*tensors, "count"), Derivative("none", self.source))),
            )
            self.others.append(made)
            if self.count not in self.taken:
                self.taken.add(self.count)
                self.lines.append(f"{self.count} = row_count({self.layout}, {self.numbers[0]})")
            kinds = ("bool" if each in fixed else f"{self.count}.dtype" for each in tensors)
            given = [
                f"{variable}.bool()" if kind == "bool" else f"{variable}.to({kind})"
                for kind, variable in zip(kinds, (self.variables.get(each, each) for each in tensors), strict=True)
            ]
            given.append(self.count)
            given += [each.name for each in self.operator.params if each.name in names(tree)]
            self.computed[tree] = unused("position", self.taken)
            self.lines.append(f"{self.computed[tree]} = {made.name}({', '.join(given)})")
        return self.computed[tree]


def _line(extent: Extent) -> Extent:
    """Return the extent of a tensor once it lies along rows."""
    return Extent.ROW if extent is Extent.ROW else Extent.ELEMENT


def dtypes_of_parts(operator: Operator) -> frozenset[DType]:
    """Return the dtypes in which lines in an order are computed: int64 for integers, float64 for floating numbers of
    long lines."""
    floating = [each for each in operator.dtypes if each.is_floating]
    others = [each for each in operator.dtypes if each.is_complex]
    has_integers = len(floating) + len(others) < len(operator.dtypes)
    whole = [INT64] if has_integers and operator.promotion is not Promotion.INT_TO_FLOAT else []
    return frozenset([*([FLOAT32, FLOAT64] if floating else []), *others, *whole])
