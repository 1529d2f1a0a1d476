"""Calls on a device: each is one plan, of its own operator, whose results are as on the CPU."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from devices import plain

if shutil.which("cc") is None:
    pytest.skip("needs a C compiler", allow_module_level=True)


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory: pytest.TempPathFactory) -> None:
    plain.register(tmp_path_factory.mktemp("plain"))


_MATRIX = [[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]]
_INDEX = [2, 0]
_MASK = [[True, False, True], [False, True, False], [True, True, True]]


def _operands(where: str) -> tuple[ow.Tensor, ow.Tensor, ow.Tensor]:
    return ow.tensor(_MATRIX, device=where), ow.tensor(_INDEX, device=where), ow.tensor(_MASK, device=where)


Call = Callable[[ow.Tensor, ow.Tensor, ow.Tensor], Any]
CALLS: dict[str, Call] = {
    "clone": lambda x, i, m: x.t().clone(),
    "_to_copy": lambda x, i, m: x.double(),
    "copy_": lambda x, i, m: x.copy_(x[0]),
    "fill_": lambda x, i, m: x.fill_(2.0),
    "zero_": lambda x, i, m: x.zero_(),
    "cat": lambda x, i, m: ow.cat([x, x], 1),
    "stack": lambda x, i, m: ow.stack([x, x], 1),
    "index": lambda x, i, m: x[i],
    "_index_put_": lambda x, i, m: x.index_put_((i,), ow.tensor(1.0)),
    "flip": lambda x, i, m: x.flip(0),
    "roll": lambda x, i, m: x.roll(1),
    "repeat": lambda x, i, m: x.repeat(2, 1),
    "sort": lambda x, i, m: x.sort(),
    "argsort": lambda x, i, m: x.argsort(),
    "topk": lambda x, i, m: x.topk(2),
    "index_select": lambda x, i, m: x.index_select(0, i),
    "gather": lambda x, i, m: x.gather(0, i.expand(3, 2)),
    "take": lambda x, i, m: x.take(i),
    "index_copy": lambda x, i, m: x.index_copy(0, i, x[:2]),
    "index_fill": lambda x, i, m: x.index_fill(0, i, 3.0),
    "index_add": lambda x, i, m: x.index_add(0, i, x[:2], alpha=2),
    "index_reduce": lambda x, i, m: x.index_reduce(0, i, x[:2], "mean"),
    "scatter": lambda x, i, m: x.scatter(0, i.expand(3, 2), 1.0),
    "scatter_add": lambda x, i, m: x.scatter_add(0, i.expand(3, 2), x),
    "scatter_reduce": lambda x, i, m: x.scatter_reduce(0, i.expand(3, 2), x, "amax"),
    "put": lambda x, i, m: x.put(i, x[0, :2]),
    "masked_fill": lambda x, i, m: x.masked_fill(m, 1.0),
    "masked_scatter": lambda x, i, m: x.masked_scatter(m, x),
    "tril": lambda x, i, m: x.tril(),
    "triu": lambda x, i, m: x.triu_(),
    "uniform_": lambda x, i, m: x.uniform_(),
    "random_": lambda x, i, m: x.random_(3),
    "ones": lambda x, i, m: ow.ones(3, 3, out=x.t()),
    "sum": lambda x, i, m: ow.sum(x, 0, out=x[0]),
    "lapack_potrf": lambda x, i, m: ow.linalg.cholesky_ex(x.unsqueeze(0), check_errors=False),
    "lapack_getrf": lambda x, i, m: ow.linalg.lu_factor_ex(x[:2]),
}


def _flat(results: Any) -> list[ow.Tensor]:
    return [results] if isinstance(results, ow.Tensor) else [each for each in results if isinstance(each, ow.Tensor)]


@pytest.mark.parametrize("name", CALLS)
def test_each_call_is_one_plan(name: str) -> None:
    expected = _flat(CALLS[name](*_operands("cpu")))
    operands = _operands("plain")
    with plain.listed_plans() as plans:
        found = _flat(CALLS[name](*operands))
    assert [plan.split()[0] for plan in plans] == [name]
    assert [(t.device.type, t.dtype, t.shape, t.stride()) for t in found] == [
        ("plain", t.dtype, t.shape, t.stride()) for t in expected
    ]


def test_results_of_a_plan() -> None:
    x, *_ = _operands("plain")
    with plain.listed_plans() as plans:
        x.argsort()
        x.sort()
        x[0].masked_fill_(x[0].new_empty(3, dtype=ow.bool), 1.0)
    float32, int64 = (plan.split()[1].split("(")[0] for plan in (plans[1], plans[0]))
    assert plans == [f"argsort {int64}(3,3)", f"sort {float32}(3,3) {int64}(3,3)", f"masked_fill {float32}(3)"]


def test_writes_are_counted_once() -> None:
    for where in ("cpu", "plain"):
        x, i, m = _operands(where)
        versions = []
        with plain.listed_plans():
            for write in (
                lambda x=x: x.copy_(x.t()),
                lambda x=x: x.fill_(1.0),
                lambda x=x, m=m: x.masked_fill_(m, 2.0),
                lambda x=x, i=i: x.index_put_((i,), x.new_empty(3)),
                lambda x=x, i=i: x.index_fill_(0, i, 3.0),
                lambda x=x, m=m: x.masked_scatter_(m, x.new_empty(9)),
                lambda x=x: x.tril_(),
                lambda x=x: x.uniform_(),
            ):
                before = x._version
                write()
                versions.append(x._version - before)
        assert versions == [1] * 8, where


def _zeros(where: str, *sizes: int, dtype: ow.dtype = ow.float32) -> ow.Tensor:
    return ow.zeros(*sizes, dtype=dtype, device=where)


def _at(where: str) -> ow.Tensor:
    return _zeros(where, 1, dtype=ow.int64)


WRONG: dict[str, Callable[[str], Any]] = {
    "bernoulli_": lambda w: _zeros(w, 3).bernoulli_(_zeros(w, 2)),
    "uniform_": lambda w: _zeros(w, 1).expand(3).uniform_(),
    "copy_": lambda w: _zeros(w, 3).copy_(_zeros(w, 2)),
    "copy_ to one place": lambda w: _zeros(w, 1).expand(3).copy_(_zeros(w, 3)),
    "fill_": lambda w: _zeros(w, 3, dtype=ow.uint8).fill_(300),
    "repeat": lambda w: _zeros(w, 3).repeat(2, -1),
    "index_add": lambda w: _zeros(w, 3, dtype=ow.int8).index_add(0, _at(w), _zeros(w, 1, dtype=ow.int8), alpha=300),
    "index_fill": lambda w: _zeros(w, 3, dtype=ow.int8).index_fill(0, _at(w), 300),
    "index_put_": lambda w: _zeros(w, 3).index_put_((_at(w),), _zeros(w, 3)),
    "scatter_reduce": lambda w: _zeros(w, 3, dtype=ow.complex64).scatter_reduce(
        0, _at(w), _zeros(w, 1, dtype=ow.complex64), "amax"
    ),
    "masked_fill": lambda w: _zeros(w, 3, dtype=ow.uint8).masked_fill(_zeros(w, 3, dtype=ow.bool), 300),
    "masked_fill to another dtype": lambda w: ow.masked_fill(
        _zeros(w, 3), _zeros(w, 3, dtype=ow.bool), 1.0, out=_zeros(w, 3, dtype=ow.int64)
    ),
    "lstsq": lambda w: ow.linalg.lstsq(_zeros(w, 3, 2), _zeros(w, 2, 2)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_before_there_is_a_plan(name: str) -> None:
    call = WRONG[name]
    with pytest.raises((RuntimeError, NotImplementedError, IndexError, ValueError)) as real:
        call("cpu")
    with pytest.raises(type(real.value)) as described:
        call("meta")
    assert str(described.value) == str(real.value)


def test_what_is_wrong_with_elements_is_said_by_those_who_read_them() -> None:
    for where in ("cpu", "meta"):
        x, index = ow.zeros(3, device=where), ow.full((1,), 5, device=where)
        pivots = ow.full((3,), 7, dtype=ow.int32, device=where)
        calls: list[Callable[[], Any]] = [
            lambda x=x, index=index: x.index_select(0, index),
            lambda x=x, index=index: x.index_copy(0, index, x[:1]),
            lambda x=x, index=index: x.gather(0, index),
            lambda x=x, index=index: x.scatter(0, index, 1.0),
            lambda x=x, index=index: x.take(index),
            lambda x=x, index=index: x[index],
            lambda x=x, pivots=pivots: ow.linalg.lu_solve(x.diag(), pivots, x.unsqueeze(1)),
        ]
        for call in calls:
            if where == "meta":
                call()
                continue
            with pytest.raises((IndexError, RuntimeError)):
                call()
