"""tests/test_operators.py: a class of tests for every operator.

The tests themselves are written by hand in tests/harness, one suite per family. This module writes the facts about each
operator that they need; all follow from its entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable as AnyCallable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..cache import NONE as NO_CACHE
from ..cache import Cache
from ..dtypes import DTYPE_CLASSES, DType, ordered
from ..expr import FUNCTIONS, Expr, lower
from ..expr.kernel_text import emit_expression, is_inexact
from ..expr.lower import Env
from ..expr.typed import Op, postorder
from ..model import variants
from ..model.accumulation import Accumulation
from ..model.computation import default_numbers, own_dtypes, turns_complex, typed
from ..model.operator import Elementwise, End, Expression, Extern, Family, Operator, Requirement, View
from ..model.parts import python_name
from ..model.reference import reference
from ..model.signatures import accepted_types
from ..read.drawing import DRAW, GENERATOR
from ..schema import Argument, base_name
from .guards import AUTO
from .text import render

Facts = Iterator[tuple[str, object]]
"""Fields of a Spec, with their values."""
_SUITES = {
    Family.ELEMENTWISE: "elementwise.ElementwiseTests",
    Family.REDUCE: "accumulate.ReduceTests",
    Family.SCAN: "accumulate.ScanTests",
    Family.VIEW: "views.ViewTests",
    Family.FACTORY: "factories.FactoryTests",
    Family.EXTERN: "products.ExternTests",
    Family.COMPOSITE: "products.CompositeTests",
    Family.COMPUTE: "indexed.ComputeTests",
    Family.FOLD: "lines.LineTests",
    Family.ROWS: "lines.LineTests",
}
_BODIES = (Family.COMPUTE, Family.FOLD, Family.ROWS)
"""Families whose results are compared with the body itself."""
_RESULTS = "element_results.ElementResultTests"
"""The class of tests for elementwise operators that no single expression describes."""
_RANDOM = "random_bodies.RandomTests"


def _family(operator: Operator) -> Family:
    """The family of the body that the entry has."""
    loops = operator.body.loops
    return operator.family if loops is None else loops.family


def _suite(operator: Operator) -> str:
    if _is_random(operator):
        return _RANDOM
    family = _family(operator)
    return _RESULTS if family is Family.ELEMENTWISE and _follows_body(operator) else _SUITES[family]


def _is_random(operator: Operator) -> bool:
    """Return True if the operator draws numbers for elements, takes one tensor or several, and other arguments may be
    left out."""
    arguments, python = operator.schema.arguments, operator.body.python
    drawn = python is not None and f"= {DRAW}(" in python.value
    return drawn and arguments[0].is_tensor and all(each.is_tensor or each.default is not None for each in arguments)


def _follows_body(operator: Operator) -> bool:
    is_plain = operator.body.single is not None and own_dtypes(operator) == (None,)
    return _family(operator) in _BODIES or (operator.family is Family.ELEMENTWISE and not is_plain)


_INTERNAL = "_dispatch.ops.ops"
"""The namespace of operators that users do not call, within the runtime."""
_GRADIENTS = "gradients.GradientTests"

# Fields of a Spec whose default is not empty or false.
_DEFAULTS = {"promotion": "default", "function": True, "method": True, "out": True}


@dataclass(frozen=True)
class TestClass:
    """Context of tests.py.j2 for one operator; `facts` are the fields of its Spec as Python text."""

    name: str
    suites: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def emit(
    operators: Sequence[Operator], source: str, output: str, cache: Cache = NO_CACHE, gradients: bool = False
) -> str:
    """The tests of operators; with `gradients` those of their gradients as well, which opweave's own have elsewhere."""
    internal = (Callable(each, each) for each in operators if each.internal and not each.derived)
    tested = (*callables(operators), *(each for each in internal if _family(each.operator) in _BODIES))
    classes = [_test_class(each, cache, gradients) for each in tested if has_suite(each.operator, gradients)]
    modules = sorted({suite.partition(".")[0] for each in classes for suite in each.suites})
    return render("tests.py.j2", source, output, modules=modules, classes=classes)


def has_suite(operator: Operator, outside: bool = False) -> bool:
    """True if a suite tests the operator. Operators without an equivalent in NumPy are compared with torch alone. The
    valid indices differ from operator to operator, so tests/runtime/tensor/indexing/ calls these;
    tests/runtime/ops/random/ has random numbers, tests/runtime/ops/elementwise/test_complex_arithmetic.py complex
    results."""
    if outside and _is_random(operator):
        return True
    if "complex_result" in operator.tags or turns_complex(operator):
        return False
    drawn = operator.body.fill is not None or operator.schema.argument(GENERATOR) is not None
    if operator.family is Family.FACTORY and operator.schema.argument("device") is None:
        return False  # the suite tries all placements
    if operator.family not in _SUITES or drawn:
        return False
    if _follows_body(operator):
        return True
    without = (Family.COMPOSITE, Family.VIEW, Family.REDUCE, Family.SCAN)
    return operator.family not in without or operator.reference != "none"


@dataclass(frozen=True)
class Callable:
    """True if users can call it: directly, or as an internal operator that an argument of another one chooses."""

    operator: Operator
    public: Operator
    chosen: Mapping[str, str] = field(default_factory=dict)


def callables(operators: Sequence[Operator]) -> Iterator[Callable]:
    """Yield the public operators, and internal ones by the choice of an argument that leads to them."""
    by_name = {operator.name: operator for operator in operators}
    for operator in operators:
        if not operator.internal:
            yield Callable(operator, operator)
        for argument, options in operator.choices.items():
            for text, name in options.items():
                if by_name[name].internal:
                    yield Callable(by_name[name], operator, {argument: text})


def _test_class(callable: Callable, cache: Cache, gradients: bool) -> TestClass:
    title = "".join(word.capitalize() for word in callable.operator.name.split("_"))
    if callable.operator is callable.public:
        written = json.loads(cache.text(callable.operator, "facts", lambda: json.dumps(_written(callable))))
    else:
        written = _written(callable)
    suites = (_suite(callable.operator), *([_GRADIENTS] if gradients and _has_gradients(callable) else []))
    return TestClass(f"Test{title}", suites, tuple((name, text) for name, text in written))


def _written(callable: Callable) -> list[tuple[str, str]]:
    return [(name, repr(value)) for name, value in facts(callable) if not _is_default(name, value)]


def _has_gradients(callable: Callable) -> bool:
    """Return True if every derivative is there and follows from the body. Composites have the derivatives of what they
    call."""
    operator = callable.operator
    if _follows_body(operator) or any(each.differs for each in operator.derivatives.values()):
        return False
    formulas = [each.text for each in operator.derivatives.values()]
    return operator.family is Family.COMPOSITE or (bool(formulas) and "none" not in formulas)


def _is_default(field: str, value: object) -> bool:
    return value == _DEFAULTS[field] if field in _DEFAULTS else not value


def facts(callable: Callable) -> Facts:
    """Facts of an operator by the fields of tests/harness/spec.py."""
    operator, public = callable.operator, callable.public
    body = operator.body
    dtypes = tuple(_accepted(operator))
    parameters = variants.parameters(operator)
    rest = [p for p in parameters if base_name(p.argument.type) in ("int", "SymInt") and not p.keyword_only]
    if operator.family in (Family.REDUCE, Family.SCAN):
        rest = []  # the suite supplies their arguments
    yield "name", variants.own_name(public)
    yield "chosen", dict(callable.chosen)
    yield "module", _INTERNAL if public.internal else public.module
    yield "inputs", tuple(p.name for p in parameters if p.argument.is_tensor)
    in_language = operator.family.in_language
    free = [each for each in operator.inputs if in_language and each.name not in body.fixed]
    yield "numbers", tuple(python_name(each.name) for each in free if len(accepted_types(operator, each)) > 1)
    # The suites compare value by value; errors of complex numbers are those of a pair, and have tests of their own.
    apart = operator.family not in (Family.VIEW, Family.FACTORY)
    yield "dtypes", tuple(dtype.name for dtype in dtypes if not (apart and dtype.is_complex))
    yield "complex_dtypes", tuple(dtype.name for dtype in dtypes if apart and dtype.is_complex)
    yield "promotion", operator.promotion.value
    numbers = default_numbers(operator)
    yield (
        "params",
        {
            p.name: end.value if isinstance(end := body.absent.get(p.name), End) else numbers.get(p.name)
            for p in operator.params
        },
    )
    yield "optional_params", tuple(p.name for p in operator.params if p.is_optional)
    yield "ints", tuple(p.name for p in rest if not p.argument.is_list)
    yield "lists", tuple(p.name for p in rest if p.argument.is_list)
    yield "variadic", variants.varargs(operator) is not None
    yield "reference", reference(operator)
    yield "magnitude", operator.error_scale
    yield "complex_refusal", operator.complex_refusal is not None
    yield "refuses_factors", "refuses_factors" in operator.tags
    yield "same_dtype", "same_dtype" in operator.tags
    yield "strict_numbers", "strict_numbers" in operator.tags
    yield "inexact", tuple(dict.fromkeys(dtype.name for dtype in _inexact(operator)))
    yield "function", public.function or public.internal
    yield "method", public.method
    yield "inplace", public.method and variants.has_inplace(operator)
    yield "inplace_argument", variants.has_inplace_argument(operator)
    several = len(operator.schema.returns) > 1 and (_follows_body(operator) or _is_random(operator))
    several_out = several and variants.has_out(operator)
    yield "out", variants.has_out(operator) and not several_out
    yield "several_out", several_out
    yield "aliases", public.aliases if public is operator else ()
    yield "exports", public.exports if public is operator else ()
    yield "operator", operator.operator
    yield "refusal", operator.refusal is not None
    yield "dtype_argument", operator.has_dtype_argument
    yield "opmath_number", "opmath_number" in operator.tags
    yield "fitting_numbers", "fitting_numbers" in operator.tags
    yield "in_range", tuple(map(python_name, operator.in_range))
    yield from _OF_FAMILIES[operator.family](operator, body) if operator.family in _OF_FAMILIES else ()
    if _follows_body(operator):
        yield "entry", (operator.file, operator.name)
        yield "automatic", body.automatic or tuple(_differentiated(operator))


def _of_elementwise(operator: Operator, body: Elementwise) -> Facts:
    yield "expressions", () if _follows_body(operator) else _expressions(body)
    yield "fixed", {python_name(name): dtype.name for name, dtype in body.fixed.items()}
    yield "requirements", tuple(map(_requirement, body.conditions))
    yield "natural", tuple(python_name(name) for name in body.natural)
    yield "optional", tuple(python_name(each.name) for each in operator.inputs if each.is_optional)
    yield "fallible", any(emit_expression(*each).uses_err for each in _kernels(operator))


def _of_accumulation(operator: Operator, body: Accumulation) -> Facts:
    yield "refuses_empty", body.refuses_empty
    steps = (_functions(case.tree, env, of) for case, env, of in typed(operator) if case is body.combine)
    yield "multiplies", any(functions & {"mul", "exp"} for functions in map(frozenset, steps))


def _of_view(operator: Operator, body: View) -> Facts:
    yield "conditional", bool(body.require)
    yield "copies", body.copies


def _of_extern(operator: Operator, body: Extern) -> Facts:
    yield "signature", body.signature


_OF_FAMILIES: Mapping[Family, AnyCallable[[Operator, Any], Facts]] = {
    Family.ELEMENTWISE: _of_elementwise,
    Family.REDUCE: _of_accumulation,
    Family.SCAN: _of_accumulation,
    Family.VIEW: _of_view,
    Family.EXTERN: _of_extern,
}
"""The facts that the suite of a family needs besides."""


def _differentiated(operator: Operator) -> Iterator[str]:
    """The arguments by which there are derivatives of the body."""
    for name, each in operator.derivatives.items():
        is_formula = operator.family.in_language and each.text != "none" and not each.differs
        if is_formula or each.source.value.strip() == AUTO:
            yield name


def _accepted(operator: Operator) -> Iterator[DType]:
    """The dtypes for which the operator has an expression, but for those that are only stored."""
    for dtype in ordered(operator.dtypes & DTYPE_CLASSES["any"]):
        if operator.body.computes(operator.promotion.resolve(dtype)[0].opmath):
            yield dtype


def _requirement(requirement: Requirement[Expression, Argument]) -> tuple[str, tuple[str, ...] | None]:
    dtypes = requirement.dtypes
    return str(requirement.check.tree), None if dtypes is None else tuple(dtype.name for dtype in ordered(dtypes))


def _expressions(body: Elementwise) -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple((tuple(d.name for d in ordered(dtypes)), str(case.tree)) for dtypes, (case,) in body.cases)


# ---- accuracy -----------------------------------------------------------------------------------------------


def _inexact(operator: Operator) -> Iterator[DType]:
    """Dtypes of computation in which the last bits of a result may differ from those of the reference."""
    if operator.family.in_language:
        for tree, env, result in _kernels(operator):
            if is_inexact(emit_expression(tree, env, result)):
                yield next(dtype for dtype in operator.compute_dtypes if dtype in env.values())
    elif operator.family in (Family.REDUCE, Family.SCAN):
        for expression, env, dtype in typed(operator):
            if dtype.is_floating and any(FUNCTIONS[name].rounds for name in _functions(expression.tree, env, dtype)):
                yield from (each for each in ordered(operator.dtypes) if each.opmath is dtype)


def _kernels(operator: Operator) -> Iterator[tuple[Expr, Env, DType]]:
    for dtype in operator.compute_dtypes:
        for expression, env, result in operator.body.typed(operator, dtype):
            yield expression.tree, env, result


def _functions(tree: Expr, env: Env, result: DType) -> frozenset[str]:
    """Names of the primitives that an expression is lowered to."""
    return frozenset(node.function for node in postorder(lower(tree, env, result)) if isinstance(node, Op))
