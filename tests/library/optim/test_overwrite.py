"""Results written over the first tensors of many calls, as steps of optimizers are: those of the calls one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import opweave as ow
import pytest
from opweave._handle import overwrite
from opweave.optim import functional

SGD, ADAM = (1e-3, 1.0, 0.01), (1e-3, 1e-8, 0.1, 0.01, 1.0, 1.0, 0.0)


@pytest.fixture(params=[1, 3])
def _threads(request: Any) -> Iterator[None]:
    before = ow.get_num_threads()
    ow.set_num_threads(request.param)
    yield
    ow.set_num_threads(before)


def row(*shape: int, dtype: Any = ow.float32) -> tuple[ow.Tensor, ...]:
    return tuple(ow.rand(*shape).to(dtype) for _ in range(4))


ROWS = {
    "many sizes": lambda: [row(n) for n in (1, 700, 0, 20000, 513, 30000)],
    "dtypes": lambda: [row(40), row(50, dtype=ow.float64), row(60, dtype=ow.bfloat16), row(70, dtype=ow.float16)],
    "orders of memory": lambda: [tuple(each.t() for each in row(30, 20)), (*row(20, 30)[:3], ow.rand(30, 20).t())],
    "gaps": lambda: [tuple(each[::2] for each in row(100)), row(10)],
    "broadcast": lambda: [(*row(4, 5)[:3], ow.rand(5)), tuple(ow.rand(()) for _ in range(4))],
}


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("kind", ROWS)
def test_results_are_those_of_single_calls(kind: str) -> None:
    rows = ROWS[kind]()
    expected = [functional.adam(*each, **dict(zip(functional.adam.names[4:], ADAM, strict=False))) for each in rows]
    versions = [each[1]._version for each in rows]
    assert overwrite(functional.adam, tuple(rows), ADAM) == []
    for tensors, results in zip(rows, expected, strict=True):
        assert [each.tolist() for each in tensors[:3]] == [each.tolist() for each in results]
    assert [each[1]._version for each in rows] == [version + 1 for version in versions]


@pytest.mark.usefixtures("_threads")
def test_tensors_that_share_memory_are_written_in_order() -> None:
    memory, gradient = ow.zeros(40000), ow.ones(30000)
    overwrite(functional.sgd, ((memory[:30000], gradient), (memory[10000:], gradient)), (0.5, 1.0, 1.0))
    assert [memory[place].item() for place in (0, 10000, 39999)] == [-0.5, -0.75, -0.5]


def test_others_are_left() -> None:
    plain, complex_one = (ow.ones(2), ow.ones(2)), (ow.ones(2, dtype=ow.complex64), ow.ones(2, dtype=ow.complex64))
    recorded, described = (
        (ow.ones(2, requires_grad=True), ow.ones(2)),
        (ow.ones(2, device="meta"), ow.ones(2, device="meta")),
    )
    rows = (plain, complex_one, recorded, described, (ow.ones(2),), (ow.ones(2), 5))
    left = overwrite(functional.sgd, rows, SGD)
    assert all(one is other for one, other in zip(left, rows[1:], strict=True))
    assert plain[0].tolist() == (ow.ones(2) - SGD[0] * 1.01).tolist()
    assert overwrite(functional.sgd, (plain,), (ow.tensor(1e-3), 1.0, 0.0)) == [plain]


def test_wrong_tensors_are_refused() -> None:
    wide = ow.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        overwrite(functional.sgd, ((wide, ow.ones(3)),), SGD)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        overwrite(functional.sgd, ((ow.ones(3), ow.ones(2, 3)),), SGD)
    with pytest.raises(RuntimeError, match="expected dtype float32 for argument 2 but got dtype float64"):
        overwrite(functional.sgd, ((ow.ones(3), ow.ones(3, dtype=ow.float64)),), SGD)
    memory = ow.ones(4)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        overwrite(functional.sgd, ((memory[:3], memory[1:]),), SGD)
    for junk in ((), (functional.sgd, [], SGD), (functional.sgd, (), ()), (ow.cat, (), ()), (len, (), ())):
        with pytest.raises(TypeError, match="overwrite\\(\\) takes an elementwise function"):
            overwrite(*junk)


def test_parameters_given_twice_step_twice() -> None:
    parameter = ow.zeros(2, requires_grad=True)
    parameter.grad = ow.ones(2)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = ow.optim.Adam([parameter, parameter], lr=0.5)
    optimizer.step()
    assert optimizer.state[parameter]["step"] == 2
    assert parameter.tolist() == pytest.approx([-1.0, -1.0])
