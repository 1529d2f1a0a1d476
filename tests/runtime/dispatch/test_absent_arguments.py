"""None in the place of each argument of each operator is refused or stands for something, and never ends the process.

Neither do arguments of internal operators that no formula gives them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import opweave
import pytest
from harness.processes import python, succeed
from opweave._dispatch.op import OPERATORS
from opweave._dispatch.ops import namespaces

FAMILIES = sorted({op.family for op in OPERATORS.values()} | {"composite"})

PLAIN: tuple[Callable[[], Any], ...] = (
    lambda: opweave.ones(3, 3),
    lambda: opweave.zeros(3, dtype=opweave.int64),
    lambda: opweave.ones(1, 1, 3, 3),
    lambda: opweave.ones(3, 3, dtype=opweave.complex64),
)
"""Tensors that stand beside the argument that is None."""

OTHERS: dict[str, Any] = {
    "Scalar": 1, "int": 0, "float": 0.5, "bool": True, "str": "mean", "dtype": opweave.float32,
    "MemoryFormat": opweave.contiguous_format, "any": 1,
}  # fmt: skip


def argument(types: str, tensor: Callable[[], Any]) -> Any:
    kind = types.rstrip("?").split("|")[0]
    if kind.startswith("Tensor"):
        return tensor() if kind == "Tensor" else [tensor(), tensor()]
    if kind.endswith("]"):
        return [1] * int(kind[:-1].rpartition("[")[2] or 1)
    return OTHERS.get(kind)


def calls(function: Any) -> Iterator[tuple[bool, list[Any]]]:
    """Arguments in schema order of which one is None, and whether it is an optional one."""
    params = function.op.params
    for place, (_, _, types) in enumerate(params):
        for tensor in PLAIN:
            arguments = [argument(each, tensor) for _, _, each in params]
            arguments[place] = None
            is_empty = function.op.defaults[place] == ()  # the list for which None stands
            yield is_empty or types.endswith("?") or types in ("any", "placement"), arguments


def call(function: Any, arguments: list[Any]) -> bool:
    """Was there an answer?"""
    named = dict(zip(function.op.names, arguments, strict=True))
    try:
        function(**named)
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
        return False
    return True


def sweep(family: str) -> None:
    warnings.simplefilter("ignore")
    for name, found in namespaces["aten"].items():
        for function in found.values() if isinstance(found, dict) else [found]:
            if function.op.family == family:
                for optional, arguments in calls(function):
                    answered = call(function, arguments)
                    assert optional or not answered, f"{name}({arguments})"


@pytest.mark.parametrize("family", FAMILIES)
def test_none_in_the_place_of_each_argument(family: str) -> None:
    succeed(python(str(Path(__file__)), family, modules="runtime/dispatch"))


def test_none_is_not_what_scatter_writes() -> None:
    index = opweave.tensor([0])
    for named in ({"src": None}, {"value": None}, {"src": None, "value": 2}):
        with pytest.raises(TypeError):
            opweave.zeros(3).scatter(0, index, **named)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"argument 'src' \(position 4\) must be Tensor, not NoneType"):
        opweave.zeros(3).scatter_(0, index, None)  # type: ignore[arg-type]


# ---- internal operators -------------------------------------------------------------------------------------

aten = opweave.ops.aten


@pytest.mark.parametrize(
    "call",
    [
        lambda: aten.permute_randomly_(opweave.zeros(3, 2)),
        lambda: aten.draw_choices_(opweave.zeros(2, 5, dtype=opweave.int64), opweave.ones(3, 4)),
        lambda: aten.draw_choices_(opweave.zeros(2, dtype=opweave.int64), 2.0),
        lambda: aten.lapack_getri(opweave.ones(3, 1)),
        lambda: aten.lapack_gesv(opweave.ones(3, 3), opweave.ones(2, 1), 0),
        lambda: aten.lapack_gesv(opweave.ones(3, 3), opweave.ones(3, 1), 7),
        lambda: aten.lapack_syevd(opweave.ones(1, 3), True, True),
        lambda: aten.lapack_gesdd(opweave.ones(3, 3), 5),
        lambda: aten.lapack_gels(opweave.ones(2, 3), opweave.ones(2, 1), 0, 0.0),
        lambda: aten.lapack_geqrf(opweave.ones(2, 3), 7),
        lambda: aten.lapack_orgqr(opweave.ones(3, 2), opweave.ones(3), 2),
        lambda: aten.lapack_ormqr(opweave.ones(3, 3), opweave.ones(3), opweave.ones(2, 3), True, False),
        lambda: aten.lapack_getrs(opweave.ones(3, 3), opweave.ones(2, dtype=opweave.int32), opweave.ones(3, 1), 0),
    ],
)
def test_internal_operators_check_sizes(call: Callable[[], Any]) -> None:
    with pytest.raises(RuntimeError):
        call()


def test_numbers_are_rows_of_parameters() -> None:
    for name, numbers in (("fill_poisson_", [4]), ("fill_gamma_", [2.0]), ("fill_binomial_", [5, 0.5])):
        fill = getattr(aten, name)
        opweave.manual_seed(0)
        filled = fill(opweave.zeros(20), *numbers)
        opweave.manual_seed(0)
        rows = [opweave.full((20,), float(each), dtype=opweave.float64) for each in numbers]
        assert opweave.equal(filled, fill(opweave.zeros(20), *rows))


if __name__ == "__main__":
    sweep(sys.argv[1])
