"""Elementwise loops: which layouts they have, whether they call functions of rows, and which vectors suit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from ..dtypes import COMPLEX64, FLOAT32, FLOAT64, DType
from ..expr import Apply, Expr, Literal, applications, names, simplify, substitute
from ..expr.functions import FUNCTIONS
from ..expr.kernel_text import emit_tree, variable
from ..expr.typed import Arg, Node, Op, applied, certain
from ..expr.typed import names as read
from ..model.computation import argument_dtypes, default_numbers, takes_defaults
from ..model.operator import Elementwise, Operator
from ..nest.nodes import Store, every
from ..nest.of import of
from . import halves, results
from .blocks import Local, Staged, Stages, stages
from .expressions import Variable, enum, parameters
from .halves import HalfKernel
from .results import ResultsKernel
from .uniform import uniform_parts

_INSTRUCTION = 3.0
"""Loops up to this cost are one or two instructions."""
_STREAMED_COST = 1.0
"""The cost of an addition, up to which a loop is bound by memory rather than by arithmetic."""
_LAID_OUT = 4
"""The most inputs for which there are loops by layout, and loops of halves. More, which gradients by several results
have, are read through gathered rows, which are where they lie if they are contiguous: their expressions are long, and a
loop is as large as all arithmetic of it."""


@dataclass(frozen=True)
class LoopKernel(Staged):
    """A loop of one result, in one dtype."""

    name: str
    title: str
    role: str
    enum: str
    result: str
    line: int
    statements: tuple[str, ...]
    value: str
    inputs: tuple[Variable, ...]
    params: tuple[Variable, ...]
    layouts: tuple[tuple[Variable, ...], ...]
    fails: bool
    padded: bool
    streams: bool
    """True if the loop uses narrow vectors (OW_STREAMS). One rule decides about this and about `unrolled`: in a loop
    over one real dtype whose functions are single instructions, an iteration takes 128 bytes: as four narrow vectors if
    it is bound by memory, as two wide ones if it computes more than an addition. `python benchmarks/loops.py` compares
    both with the compiler's choice. With bytes beside doubles compilers generate no narrow vectors at all."""
    unrolled: int
    scalar: bool
    """True if the loop is scalar for all strides, since no compiler vectorizes it."""
    chosen: tuple[int, ...]
    """Indices of inputs that only some elements use: see ow_touch()."""
    unread: frozenset[str]
    """Inputs that the expression never reads (such as isfinite of an integer); their strides are not tested."""
    stages: Stages | None

    several = False

    def strides(self, index: int) -> list[str]:
        """Strides with which an operand can be read as a row without a copy."""
        layouts = self.layouts or (self.inputs,)
        return list(dict.fromkeys(layout[index - 1].stride for layout in layouts if layout[index - 1].step))

    @property
    def arguments(self) -> tuple[Local, ...]:
        """The variables of the function of one element."""
        if self.stages is None:
            return self.locals
        return tuple(each for each in self.locals if each.name in self.stages.rest_reads)

    @property
    def signature(self) -> str:
        """Parameters of the function of one element."""
        variables = [f"{each.ctype} {each.name}" for each in self.arguments]
        return ", ".join([*variables, *(["int *err"] if self.fails else [])]) or "void"

    @property
    def param_signature(self) -> str:
        return "".join(f", {param.ctype} {param.name}" for param in self.params) + (", int *err" if self.fails else "")

    @property
    def param_arguments(self) -> str:
        names = [*(param.name for param in self.params), *(["err"] if self.fails else [])]
        return "".join(f", {name}" for name in names) if self.inputs else ", ".join(names)


def kernels(operator: Operator, body: Elementwise) -> Iterator[LoopKernel | ResultsKernel]:
    """The loop with parameters for each dtype of computation, and the loop in which all have their defaults."""
    kernel = _loop if body.is_single else results.kernel
    for dtype in operator.compute_dtypes:
        for role, each in _roles(operator, body, dtype):
            yield kernel(each, body, dtype, role)


def half_kernels(operator: Operator, body: Elementwise) -> Iterator[HalfKernel]:
    """Yield the kernels of halves that compute in float32, where there is one expression for it."""
    if not body.is_single or body.own != (None,) or FLOAT32 not in operator.compute_dtypes:
        return
    if len(operator.inputs) <= _LAID_OUT:
        for role, each in _roles(operator, body, FLOAT32):
            yield from halves.kernels(each, role)


def _roles(operator: Operator, body: Elementwise, dtype: DType) -> Iterator[tuple[str, Operator]]:
    """Yield the operator with its parameters, and with their defaults in their place; none where it has no expression
    in this dtype."""
    expressions = body.expressions(dtype)
    if not expressions:
        return
    yield "general", operator
    if operator.params and body.iterate is None:
        trees = [with_defaults(operator, each.tree, dtype) for each in expressions]
        given = tuple(
            replace(each, tree=tree) for each, tree in zip(expressions, trees, strict=True) if tree is not None
        )
        if len(given) == len(trees):
            yield "plain", replace(operator, body=replace(body, cases=((frozenset({dtype}), given), *body.cases)))


def with_defaults(operator: Operator, tree: Expr, dtype: DType) -> Expr | None:
    """The expression with every parameter replaced by its default; None if one has no default for this dtype."""
    numbers = default_numbers(operator)
    whole = {param.name for param in operator.params if param.is_integral}
    if len(numbers) != len(operator.params) or not takes_defaults(operator, dtype):
        return None
    # Integer computations take the integer part, as the core does for numbers that are passed.
    defaults = {n: Literal(v if dtype.is_floating or n in whole else int(v)) for n, v in numbers.items()}
    return simplify(substitute(tree, defaults), exact=True) if defaults else tree


def _loop(operator: Operator, body: Elementwise, dtype: DType, role: str) -> LoopKernel:
    (stored,) = every(of(operator, dtype), Store)
    dtypes = argument_dtypes(operator, body, dtype)
    emitted, params = stored.value, () if role == "plain" else parameters(operator, dtype)
    if dtype is COMPLEX64 and _is_choice_of_inputs(emitted.root):
        # A pair that is moved as one number vectorizes.
        dtypes = {name: FLOAT64 if each is dtype else each for name, each in dtypes.items()}
        emitted = emit_tree(_moved(emitted.root))
    emitted, params = uniform_parts(emitted, params, {each.name for each in operator.params})
    root, result = emitted.root, emitted.root.dtype
    inputs = tuple(Variable(variable(argument.name), dtypes[argument.name].c_type) for argument in operator.inputs)
    name = f"{operator.name}_{dtype.suffix}" + ("_plain" if role == "plain" else "")
    staged = stages([root], {argument.name for argument in operator.inputs})
    rest = staged.rest[0] if staged else emitted
    functions = tuple(applied(root))
    scalar = any(function.branches_for(dtype) for function, dtype in functions)
    padded = staged is not None or any(
        not function.is_exact_for(dtype) and not function.branches_for(dtype) for function, dtype in functions
    )
    used = read(root)
    is_light = staged is None and all(function.cost <= _INSTRUCTION for function, _ in functions)
    is_uniform = is_light and not result.is_complex and {result} == set(dtypes.values())
    streams = is_uniform and _cost(operator, dtype) <= _STREAMED_COST
    return LoopKernel(
        name=name,
        title=f"{dtype.name}{', default parameters' if role == 'plain' else ''}",
        role=role,
        enum=enum(dtype),
        result=result.c_type,
        line=stored.line,
        statements=rest.statements,
        value=rest.value,
        inputs=inputs,
        params=params,
        layouts=tuple(_layouts(inputs, alternates=is_light)),
        fails=emitted.uses_err,
        padded=padded,
        streams=streams,
        unrolled=4 if streams else 2 if is_uniform else 1,
        scalar=scalar,
        chosen=tuple(index for index, x in enumerate(operator.inputs, 1) if x.name in used - certain(root)),
        unread=frozenset(variable(argument.name) for argument in operator.inputs if argument.name not in used),
        stages=staged,
    )


def _cost(operator: Operator, dtype: DType) -> float:
    """Return the cost of the distinct functions of elements in the entry's expression: a maximum is one instruction,
    while its definition has three functions."""
    (expression,) = operator.body.values(dtype)
    inputs = {each.name for each in operator.inputs}
    applied = (each for each in applications(expression.tree) if isinstance(each, Apply) and inputs & names(each))
    return sum(FUNCTIONS[each.function].cost for each in applied)


def _is_choice_of_inputs(root: Node) -> bool:
    return isinstance(root, Op) and root.function == "where" and all(isinstance(each, Arg) for each in root.operands)


def _moved(choice: Node) -> Node:
    """Return a choice of complex numbers as one of numbers of their size."""
    condition, *arms = choice.children
    return Op(FLOAT64, "where", (condition, *(Arg(FLOAT64, each.name) for each in arms if isinstance(each, Arg))))


def _layouts(inputs: tuple[Variable, ...], alternates: bool) -> Iterator[tuple[Variable, ...]]:
    """Layouts of the inputs: every combination of rows and single elements with at least one row (of three inputs the
    first is always a row: a mask, or the clamped tensor; of four one is a single element at most), and last a layout
    with every second element of all."""
    if len(inputs) > _LAID_OUT:
        return
    fewest = len(inputs) - 1 if len(inputs) == _LAID_OUT else 1
    mixtures = [steps for steps in product((1, 0), repeat=len(inputs)) if sum(steps) >= fewest]
    for steps in (*mixtures, *([(2,) * len(inputs)] if alternates else [])):
        if len(inputs) != 3 or steps[0]:
            yield tuple(replace(each, step=step) for each, step in zip(inputs, steps, strict=True))
