"""Results at every instruction-set level that the processor has.

Arithmetic gives the same bits at all of them. Functions of vector mathematics do not: which operators call some, the
generator knows from their expressions (`level_dependent`), and no other may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

import opweave
import pytest
from harness.catalog import described, operators
from harness.spec import Spec
from opweave._C import lib

from codegen.dtypes import DTYPES
from codegen.emit.kernels import level_dependent
from codegen.emit.tests import Callable, callables, facts
from codegen.model.operator import Family

LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
BITS = {2: opweave.int16, 4: opweave.int32, 8: opweave.int64}
ARITHMETIC = {"add", "sub", "mul", "div", "abs", "hypot", "sqrt", "sum", "prod", "mean", "cumsum", "cumprod", "lerp"}
FAMILIES = ("elementwise", "reduce", "scan", "rows")
PUBLIC = [
    each["name"] for each in described()
    if each["family"] in FAMILIES
    and (each["functions"] or each["methods"] or each["submodules"])
]  # fmt: skip


@pytest.fixture(scope="module")
def levels() -> Iterator[list[int]]:
    """Those that there are, the best one last; it is chosen again afterwards."""
    best = lib.level()
    yield [level for level in range(len(LEVELS)) if lib.set_level(level)]
    lib.set_level(best)


def values(dtype: str, shape: tuple[int, ...], seed: int) -> opweave.Tensor:
    """Numbers of ordinary size, drawn where every level draws the same."""
    facts, generator = DTYPES[dtype], opweave.Generator().manual_seed(seed)
    drawn = opweave.rand(*shape, 2, generator=generator, dtype=opweave.float64) * 6 - 3
    if facts.is_complex:
        return opweave.view_as_complex(drawn).to(getattr(opweave, dtype))
    return (drawn[..., 0] if facts.is_floating else drawn[..., 0].abs() + 1).to(getattr(opweave, dtype))


def results(called: Callable, spec: Spec, dtype: str) -> list[opweave.Tensor]:
    """Of rows longer than vectors and of steps between elements."""
    function, keywords = spec.find(opweave), spec.keywords_for(dtype)
    if called.operator.schema.argument("dim") is not None and called.operator.family is not Family.ELEMENTWISE:
        keywords = {**keywords, "dim": 1}
    tensors: list[opweave.Tensor] = []
    for seed, shape in enumerate(((3, 301), (7, 5))):
        inputs = [
            values(spec.fixed.get(name, dtype), shape, 10 * seed + index) for index, name in enumerate(spec.inputs)
        ]
        for operands in (inputs, [each.t() for each in inputs]):
            result = function(*operands, **keywords)
            tensors += result if isinstance(result, tuple) else [result]
    return tensors


def bits(x: opweave.Tensor) -> opweave.Tensor:
    """NaN is one number here, whatever its sign."""
    if x.is_complex():
        x = opweave.view_as_real(x.resolve_conj())
    if not x.is_floating_point():
        return x
    return opweave.where(x.isnan(), opweave.full_like(x, float("nan")), x).contiguous().view(BITS[x.element_size()])


@pytest.mark.parametrize("name", PUBLIC)
def test_only_vector_mathematics_depends_on_the_level(name: str, levels: list[int]) -> None:
    for called in callables(operators()):
        if called.public.name == name and called.operator.family.key in FAMILIES:
            check_levels(called, levels)


def check_levels(called: Callable, levels: list[int]) -> None:
    operator, spec = called.operator, Spec(**dict(facts(called)))
    dependent = level_dependent(operator)
    assert not dependent or operator.name not in ARITHMETIC
    for dtype in (*spec.dtypes, *spec.complex_dtypes):
        if operator.promotion.resolve(DTYPES[dtype])[0].opmath in dependent:
            continue
        by_level = {}
        for level in levels:
            lib.set_level(level)
            by_level[level] = [bits(result) for result in results(called, spec, dtype)]
        best = levels[-1]
        for level in levels[:-1]:
            same = all((one == other).all() for one, other in zip(by_level[level], by_level[best], strict=True))
            assert same, f"{operator.name} of {dtype} at {LEVELS[level]} and {LEVELS[best]}"
