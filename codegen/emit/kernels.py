"""C kernels of elementwise, reduce, scan and factory operators, and the descriptor of every operator: one file each.

A kernel is one expression in one compute dtype. Here are the decisions (which dtypes, which layouts, what needs the
padded form); templates/ holds the loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from ..dtypes import COMPLEX64, FLOAT32, FLOAT64, DType
from ..expr import Apply, Emitted, Expr, Literal, Name, applications, certain, names, simplify, substitute
from ..expr.functions import FUNCTIONS, Function
from ..expr.kernel_text import emit_expression, variable
from ..expr.typed import Arg, applied, postorder
from ..model.computation import argument_dtypes, default_numbers, position_dtype, result_dtype, takes_defaults, typed
from ..model.operator import Elementwise, Expression, Factory, Family, Found, Operator, Reduce, Rows, Scan
from . import descriptors, halves, requirements, rows, views
from .blocks import RESULT, BlockCall, block_call
from .expressions import Variable, enum, identity, parameters
from .halves import HalfKernel
from .text import render

_STREAMED_COST = 3.0  # that of a few additions
_STREAMED_STEPS = 1  # of an expression; with more of them vectors of 64 bytes save more than rows that cross lines lose


@dataclass(frozen=True)
class LoopKernel:
    """One elementwise loop, as elementwise.c.j2 wants it."""

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
    unrolled: int
    """How often, where little is computed for a vector and the loop's own instructions count: to 128 bytes."""
    streams: bool
    """Waits for memory rather than for arithmetic: see OW_STREAMS. Divisions are arithmetic enough where a wide
    vector's takes less than two narrow ones', and so are several steps, and making booleans of other numbers. Of a byte
    beside four doubles the compiler makes no narrow vectors at all."""
    scalar: bool
    """Takes one element after the other whatever their strides, as no compiler makes vector instructions of it."""
    chosen: tuple[int, ...]
    """Operands that are inputs which no element may use: see ow_touch()."""
    unread: frozenset[str]
    """Inputs whose values and strides do not matter: whether an integer is finite is known without it."""
    block: BlockCall | None

    def strides(self, place: int) -> list[str]:
        """Those of an operand that is read as a row without a copy."""
        return list(dict.fromkeys(layout[place - 1].stride for layout in self.layouts if layout[place - 1].step))

    @property
    def has_blocks(self) -> bool:
        return self.block is not None

    @property
    def has_complex_blocks(self) -> bool:
        return self.block is not None and "_Complex" in self.block.ctype

    @property
    def signature(self) -> str:
        """Parameters of the function of one element."""
        variables = [f"{each.ctype} {each.name}" for each in (*self.inputs, *self.params)]
        staged = [f"{self.block.ctype} {RESULT}"] if self.block and self.block.rest else []
        return ", ".join([*variables, *staged, *(["int *err"] if self.fails else [])]) or "void"

    @property
    def argument_signature(self) -> str:
        """Parameters of the function of the block's argument."""
        return ", ".join(f"{each.ctype} {each.name}" for each in (*self.inputs, *self.params))

    @property
    def param_signature(self) -> str:
        return "".join(f", {param.ctype} {param.name}" for param in self.params)

    @property
    def param_arguments(self) -> str:
        names = [*(param.name for param in self.params), *(["err"] if self.fails else [])]
        return "".join(f", {name}" for name in names) if self.inputs else ", ".join(names)


@dataclass(frozen=True)
class AccumulatorKernel:
    """One reduction or scan in one dtype, as reduce.c.j2 and scan.c.j2 want it."""

    suffix: str
    enum: str
    ctype: str
    line: int
    identity: str
    combine: Emitted
    map: Emitted | None
    finalize: Emitted | None
    positions: bool
    any_order: bool
    """Does a scan come to the same whatever order elements are combined in, so that a level may choose its own?"""
    fours: bool
    """Is a scan arithmetic, which C writes for four elements as for one?"""
    single: str | None
    """The C type of half the precision that scans read and write as well."""


def emit(operator: Operator) -> str | None:
    """The C file of one operator; None for composites, which have no C."""
    if operator.family is Family.COMPOSITE:
        return None
    output = f"{operator.name}.c"
    context: dict[str, object] = {
        "symbol": operator.name,
        "op": operator.name,
        "d": descriptors.descriptor(operator),
        "special": any(function.is_special for function, _ in _applied(operator)),
    }
    body = operator.body
    if isinstance(body, Elementwise):
        loops = tuple(_elementwise(operator, body))
        _add_kernels(context, loops)
        context["half_kernels"] = tuple(_halves(operator, body))
        context["checks"] = requirements.checks(operator, body)
        context["checked"] = requirements.used_parameters(operator, body)
        return render("elementwise.c.j2", operator.file, output, **context)
    if isinstance(body, Factory):
        _add_kernels(context, _factory(operator, body))
        return render("factory.c.j2", operator.file, output, **context)
    if isinstance(body, (Reduce, Scan)):
        template = "reduce.c.j2" if isinstance(body, Reduce) else "scan.c.j2"
        _add_kernels(context, _accumulators(operator, body))
        return render(template, operator.file, output, **context)
    if isinstance(body, Rows):
        _add_kernels(context, rows.kernels(operator, body))
        return render("rows.c.j2", operator.file, output, **context)
    return views.emit(operator, output, context)


def _add_kernels(context: dict[str, object], kernels: Iterable[object]) -> None:
    """`blocks`: does one of them call a function of blocks.h? `complex_blocks`: or of complex_rows.h?"""
    every = context["kernels"] = tuple(kernels)
    context["blocks"] = any(getattr(kernel, "has_blocks", False) for kernel in every)
    context["complex_blocks"] = any(getattr(kernel, "has_complex_blocks", False) for kernel in every)


# ---- elementwise --------------------------------------------------------------------------------------------


def _elementwise(operator: Operator, body: Elementwise) -> Iterator[LoopKernel]:
    for dtype in operator.compute_dtypes:
        expression = body.expression(dtype)
        if expression is None:
            continue
        yield _loop(operator, body, expression, expression.tree, dtype, "general")
        plain = _with_defaults(operator, expression.tree, dtype)
        if operator.params and plain is not None:
            yield _loop(operator, body, expression, plain, dtype, "plain")


def _with_defaults(operator: Operator, tree: Expr, dtype: DType) -> Expr | None:
    """The expression where every parameter has its default; None when one has none, or not for this dtype."""
    numbers = default_numbers(operator)
    if len(numbers) != len(operator.params) or not takes_defaults(operator, dtype):
        return None
    # Integer computations take the integer part, as the core does of numbers that are given.
    defaults = {n: Literal(v if dtype.is_floating else int(v)) for n, v in numbers.items()}
    return simplify(substitute(tree, defaults), exact=True) if defaults else tree


def _halves(operator: Operator, body: Elementwise) -> Iterator[HalfKernel]:
    expression = body.expression(FLOAT32)
    if expression is None or FLOAT32 not in operator.compute_dtypes:
        return
    yield from halves.kernels(operator, expression.tree, "general", expression.line)
    plain = _with_defaults(operator, expression.tree, FLOAT32)
    if operator.params and plain is not None:
        yield from halves.kernels(operator, plain, "plain", expression.line)


def _loop(
    operator: Operator, body: Elementwise, expression: Expression, tree: Expr, dtype: DType, role: str
) -> LoopKernel:
    env, result = argument_dtypes(operator, body, dtype), result_dtype(operator, dtype)
    if dtype is COMPLEX64 and _is_choice_of_inputs(tree):
        # Moved as one number, a pair vectorises.
        env, result = ({name: FLOAT64 if each is dtype else each for name, each in env.items()}, FLOAT64)
    emitted = emit_expression(tree, env, result)
    inputs = tuple(Variable(variable(argument.name), env[argument.name].c_type) for argument in operator.inputs)
    params = () if role == "plain" else parameters(operator, dtype)
    name = f"{operator.name}_{dtype.suffix}" + ("_plain" if role == "plain" else "")
    block = block_call(emitted, [argument.name for argument in operator.inputs])
    rest = block.rest if block and block.rest else emitted
    functions = tuple(applied(emitted.root))
    scalar = any(function.branches_for(dtype) for function, dtype in functions)
    padded = block is not None or any(
        not function.is_exact_for(dtype) and not function.branches_for(dtype) for function, dtype in functions
    )
    used = {node.name for node in postorder(emitted.root) if isinstance(node, Arg)}
    divides = any(function.symbol == "/" for function, _ in functions)
    is_light = not (padded or scalar) and operator.cost <= _STREAMED_COST
    is_plain = is_light and not result.is_complex and {result} == set(env.values()) and not divides
    streams = is_plain and len(applications(tree)) <= _STREAMED_STEPS
    return LoopKernel(
        name=name,
        title=f"{dtype.name}{', default parameters' if role == 'plain' else ''}",
        role=role,
        enum=enum(dtype),
        result=result.c_type,
        line=expression.line,
        statements=rest.statements,
        value=rest.value,
        inputs=inputs,
        params=params,
        layouts=tuple(_layouts(inputs, alternates=is_light)),
        fails=emitted.uses_err,
        padded=padded,
        unrolled=4 if streams else 2 if is_plain else 1,
        streams=streams,
        scalar=scalar,
        chosen=tuple(place for place, x in enumerate(operator.inputs, 1) if x.name in names(tree) - certain(tree)),
        unread=frozenset(variable(argument.name) for argument in operator.inputs if argument.name not in used),
        block=block,
    )


def _is_choice_of_inputs(tree: Expr) -> bool:
    return isinstance(tree, Apply) and tree.function == "where" and all(isinstance(arg, Name) for arg in tree.args)


def _layouts(inputs: tuple[Variable, ...], alternates: bool) -> Iterator[tuple[Variable, ...]]:
    """Which inputs are rows and which one element for the whole row: every mixture with at least one row. Three
    inputs keep their first as a row (a mask, or what is clamped). At last every other element of all of them."""
    mixtures = [steps for steps in product((1, 0), repeat=len(inputs)) if any(steps)]
    for steps in (*mixtures, *([(2,) * len(inputs)] if alternates else [])):
        if len(inputs) < 3 or steps[0]:
            yield tuple(replace(each, step=step) for each, step in zip(inputs, steps, strict=True))


def level_dependent(operator: Operator) -> frozenset[DType]:
    """The dtypes of computation in which the last bits of results depend on the instruction-set level."""
    found = frozenset[DType]()
    for expression, env, result in typed(operator):
        functions = applied(emit_expression(expression.tree, env, result).root)
        if any(function.depends_on_level(dtype) for function, dtype in functions):
            found |= {result, *env.values()}
    return found.intersection(operator.compute_dtypes)


def _applied(operator: Operator) -> Iterator[tuple[Function, DType]]:
    """The primitives that any expression of the operator applies."""
    for expression, env, result in typed(operator):
        yield from applied(emit_expression(expression.tree, env, result).root)


# ---- factories ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FactoryKernel:
    """One loop that computes elements from their position, as factory.c.j2 wants it."""

    name: str
    enum: str
    ctype: str
    line: int
    statements: tuple[str, ...]
    value: str
    params: tuple[Variable, ...]
    work: str
    uses_index: bool

    @property
    def signature(self) -> str:
        names = [*(param.name for param in self.params), *([variable("i")] if self.uses_index else [])]
        return ", ".join(f"{self.work} {name}" for name in names) or "void"

    @property
    def arguments(self) -> str:
        index = [f"({self.work})(index + i)"] if self.uses_index else []
        return ", ".join([*(param.name for param in self.params), *index])


def _factory(operator: Operator, body: Factory) -> Iterator[FactoryKernel]:
    if body.value is None:
        return
    used = names(body.value.tree)
    taken = frozenset(map(variable, used))
    for dtype in operator.compute_dtypes:
        work = position_dtype(dtype)
        emitted = emit_expression(body.value.tree, dict.fromkeys(used, work), work)
        value = f"({emitted.value}) != 0" if dtype.is_bool else f"({dtype.c_type})({emitted.value})"
        params = tuple(param for param in parameters(operator, work) if param.name in taken)
        yield FactoryKernel(
            name=f"{operator.name}_{dtype.suffix}",
            enum=enum(dtype),
            ctype=dtype.c_type,
            line=body.value.line,
            statements=emitted.statements,
            value=value,
            params=params,
            work=work.c_type,
            uses_index="i" in used,
        )


# ---- reductions and scans -----------------------------------------------------------------------------------


def _accumulators(operator: Operator, body: Reduce | Scan) -> Iterator[AccumulatorKernel]:
    """`acc`, `self` and `count` have the accumulator's dtype; inputs were cast to it."""
    each = body.map if isinstance(body, Reduce) else None
    finalize = body.finalize if isinstance(body, Reduce) else None
    for dtype in operator.compute_dtypes:
        combine = emit_expression(body.combine.tree, {"acc": dtype, "self": dtype}, dtype)
        is_light = not dtype.is_complex and operator.cost == 1
        functions = {FUNCTIONS[each.function] for each in applications(body.combine.tree) if isinstance(each, Apply)}
        joins = is_light and all(function.associative for function in functions)
        any_order = is_light and (dtype.is_integer or (joins and not any(function.rounds for function in functions)))
        fours = joins and dtype.is_floating and all(function.symbol for function in functions)
        yield AccumulatorKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=dtype.c_type,
            line=body.combine.line,
            identity=identity(body.identity, dtype),
            positions=Found.POSITION in body.results,
            any_order=any_order,
            fours=fours,
            single=FLOAT32.c_type if (any_order or fours) and dtype is FLOAT64 else None,
            combine=combine,
            map=None if each is None else emit_expression(each.tree, {"self": dtype}, dtype),
            finalize=None
            if finalize is None
            else emit_expression(finalize.tree, {"acc": dtype, "count": dtype}, dtype),
        )
