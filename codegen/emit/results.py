"""Elementwise loops of several results, and loops for each element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dtypes import DType
from ..expr import Emitted, emit_c
from ..expr.kernel_text import emit_together, is_inexact, variable
from ..expr.typed import certain, names, roots
from ..model.computation import argument_dtypes, result_dtypes, variable_dtypes
from ..model.operator import Elementwise, Operator
from ..nest.nodes import Accumulate, Guard, Map, Node, Store, every
from ..nest.of import of
from .blocks import Staged, Stages, stages
from .expressions import Variable, enum, parameters
from .uniform import uniform_parts


@dataclass(frozen=True)
class Part:
    """Expressions that are computed together, the arguments that they read, and the variables that they give."""

    line: int
    emitted: Emitted
    results: tuple[Variable, ...]


@dataclass(frozen=True)
class LoopOfElement:
    """A loop in which an element is computed repeatedly: its variables are `state`, `flag` says whether it goes on."""

    start: Part
    round: Part
    times: str
    state: tuple[Variable, ...]
    ends: bool
    """True if the first result of a round says whether the element goes on."""
    flag: str
    """The C type of that, as wide as the widest variable, so that all of them take as many vectors."""


@dataclass(frozen=True)
class ResultsKernel(Staged):
    """One dtype of computation."""

    name: str
    title: str
    role: str
    enum: str
    results: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    params: tuple[Variable, ...]
    value: Part
    loop: LoopOfElement | None
    fails: bool
    padded: bool
    """True if the row is always computed in whole groups, as vector and scalar forms of functions differ."""
    chosen: tuple[int, ...]
    stages: Stages | None

    several = True


def kernel(operator: Operator, body: Elementwise, dtype: DType, role: str) -> ResultsKernel:
    """The kernel of one dtype of computation. With the role `plain` it reads no parameters."""
    nest, dtypes = of(operator, dtype), variable_dtypes(operator, body, dtype)
    (stored,) = every(nest, Store)
    results = tuple(
        Variable(f"ow_{label or 'result'}", own.c_type, index=index)
        for index, (label, own) in enumerate(zip(operator.labels, result_dtypes(operator, dtype), strict=True))
    )
    emitted, params = stored.value, () if role == "plain" else parameters(operator, dtype)
    loop = None if body.iterate is None else _loop(operator, body, nest, dtype)
    staged = None
    if loop is None:
        emitted, params = uniform_parts(emitted, params, {each.name for each in operator.params})
        staged = stages(roots(emitted.root), {each.name for each in operator.inputs}, True)
    value = Part(stored.line, staged.rest[0] if staged else emitted, results)
    parts = [value] if loop is None else [value, loop.start, loop.round]
    chosen = names(emitted.root) - certain(emitted.root) if loop is None else frozenset[str]()
    return ResultsKernel(
        name=f"{operator.name}_{dtype.suffix}" + ("_plain" if role == "plain" else ""),
        title=f"{dtype.name}{', default parameters' if role == 'plain' else ''}",
        role=role,
        enum=enum(dtype),
        results=results,
        inputs=tuple(Variable(variable(each.name), dtypes[each.name].c_type) for each in operator.inputs),
        params=params,
        value=value,
        loop=loop,
        fails=any(part.emitted.uses_err for part in parts),
        padded=loop is not None or staged is not None or is_inexact(emitted),
        chosen=tuple(index for index, each in enumerate(operator.inputs) if each.name in chosen),
        stages=staged,
    )


def _loop(operator: Operator, body: Elementwise, nest: Sequence[Node], dtype: DType) -> LoopOfElement:
    loop = body.iterate
    assert loop is not None
    starts, ends, (following,) = every(nest, Map), every(nest, Guard), every(nest, Accumulate)
    state = tuple(Variable(variable(each.name), each.ctype) for each in starts)
    after = tuple(Variable(f"next_{each.name}", each.ctype) for each in state)
    goes = (Variable("ow_goes", "int"),) if ends else ()
    rounds = [*(each.condition.root for each in ends), *roots(following.value.root)]
    arguments = argument_dtypes(operator, body, dtype)
    bound = emit_c(loop.times.tree, arguments, names={name: variable(name) for name in arguments})
    is_floating = bound.root.dtype.is_floating
    widest = max(each.dtype.to_real.itemsize for each in roots(following.value.root))
    return LoopOfElement(
        start=Part(starts[0].line, emit_together([each.value.root for each in starts]), state),
        round=Part(following.line, emit_together(rounds), (*goes, *after)),
        times=f"ow_integer_f64((double)({bound.value}))" if is_floating else f"(int64_t)({bound.value})",
        state=state,
        ends=bool(ends),
        flag="int64_t" if widest == 8 else "int32_t",
    )
