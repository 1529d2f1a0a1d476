"""Elementwise loops of several results, and loops for each element."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import BOOL, DType
from ..expr import Emitted, Expr, certain, emit_c, names
from ..expr.kernel_text import TARGET, emit_expressions, variable
from ..expr.typed import applied, roots
from ..model.computation import argument_dtypes, result_dtypes, variable_dtypes
from ..model.operator import Elementwise, Operator
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


def kernel(
    operator: Operator, body: Elementwise, trees: tuple[Expr, ...], dtype: DType, role: str, line: int
) -> ResultsKernel:
    """The kernel of the results `trees`. With the role `plain` it reads no parameters."""
    env = variable_dtypes(operator, body, dtype)
    dtypes = result_dtypes(operator, dtype)
    names_of_results = tuple(label or "result" for label in operator.labels)
    results = tuple(
        Variable(f"ow_{name}", result.c_type, index=index)
        for index, (name, result) in enumerate(zip(names_of_results, dtypes, strict=True))
    )
    params = () if role == "plain" else parameters(operator, dtype)
    if body.iterate is None:
        known = frozenset(each.name for each in operator.params)
        trees, params, env = uniform_parts(trees, params, known, env)
    emitted = emit_expressions(trees, env, dtypes)
    loop = None if body.iterate is None else _loop(operator, body, env, dtype)
    staged = None if loop is not None else stages(roots(emitted.root), {each.name for each in operator.inputs}, True)
    value = Part(line, staged.rest[0] if staged else emitted, results)
    parts = [value] if loop is None else [value, loop.start, loop.round]
    functions = [*applied(emitted.root), *(pair for part in parts for pair in applied(part.emitted.root))]
    used = frozenset[str]().union(*map(names, trees))
    always = used if loop is not None else frozenset[str]().union(*map(certain, trees))
    return ResultsKernel(
        name=f"{operator.name}_{dtype.suffix}" + ("_plain" if role == "plain" else ""),
        title=f"{dtype.name}{', default parameters' if role == 'plain' else ''}",
        role=role,
        enum=enum(dtype),
        results=results,
        inputs=tuple(Variable(variable(each.name), env[each.name].c_type) for each in operator.inputs),
        params=params,
        value=value,
        loop=loop,
        fails=any(part.emitted.uses_err for part in parts),
        padded=loop is not None
        or staged is not None
        or any(not function.is_exact_for(of) for function, of in functions),
        chosen=tuple(index for index, each in enumerate(operator.inputs) if each.name in used - always),
        stages=staged,
    )


def _loop(operator: Operator, body: Elementwise, env: dict[str, DType], dtype: DType) -> LoopOfElement:
    loop = body.iterate
    assert loop is not None
    arguments = argument_dtypes(operator, body, dtype)
    state = tuple(Variable(variable(name), TARGET.variable_type(env[name])) for name in loop.names)
    kinds = tuple(env[name] for name in loop.names)
    starts = emit_expressions(tuple(start.tree for _, start in loop.state), arguments, kinds)
    ends = loop.proceeds is not None
    rounds = emit_expressions(tuple(each.tree for each in loop.rounds), env, ((BOOL,) if ends else ()) + kinds)
    bound = emit_c(loop.times.tree, arguments, names={name: variable(name) for name in arguments})
    is_floating = bound.root.dtype.is_floating
    following = tuple(Variable(f"next_{each.name}", each.ctype) for each in state)
    widest = max(kind.to_real.itemsize for kind in kinds)
    return LoopOfElement(
        start=Part(loop.state[0][1].line, starts, state),
        round=Part(loop.following[0].line, rounds, ((Variable("ow_goes", "int"),) if ends else ()) + following),
        times=f"ow_integer_f64((double)({bound.value}))" if is_floating else f"(int64_t)({bound.value})",
        state=state,
        ends=ends,
        flag="int64_t" if widest == 8 else "int32_t",
    )
