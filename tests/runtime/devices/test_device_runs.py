"""A device with a function of C for a family of operators: what it computes, and what becomes of everything else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import opweave as ow
import pytest
from devices import plain
from opweave import library
from opweave._dispatch import dispatcher

if shutil.which("cc") is None:
    pytest.skip("needs a C compiler", allow_module_level=True)


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory: pytest.TempPathFactory) -> None:
    plain.register(tmp_path_factory.mktemp("plain"))


@pytest.fixture
def fallback() -> Iterator[None]:
    library.register_fallback("plain")(library.cpu_fallback)
    yield
    dispatcher.unregister("plain")


def test_what_it_computes() -> None:
    x = ow.tensor([[1.0, 2.0], [3.0, 4.0]], device="plain")
    y = x + x
    assert (y.device, y.cpu().tolist()) == (ow.device("plain:0"), [[2.0, 4.0], [6.0, 8.0]])
    assert x.add(y, alpha=2).cpu().tolist() == [[5.0, 10.0], [15.0, 20.0]]
    x.add_(y)
    out = ow.empty(0, device="plain")
    assert ow.add(x, x, out=out) is out
    assert out.cpu().tolist() == [[6.0, 12.0], [18.0, 24.0]]


def test_a_routine() -> None:
    x = ow.tensor([[1.0, 2.0], [3.0, 4.0]], device="plain")
    assert x.tril().cpu().tolist() == [[1.0, 0.0], [3.0, 4.0]]
    assert x.tril(-1).cpu().tolist() == [[0.0, 0.0], [3.0, 0.0]]
    out = ow.empty(2, 2, device="plain")
    assert ow.tril(x, 1, out=out) is out
    assert out.cpu().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    x.tril_()
    assert x.cpu().tolist() == [[1.0, 0.0], [3.0, 4.0]]


def test_gradients() -> None:
    x = ow.tensor([1.0, 2.0], device="plain", requires_grad=True)
    (x + x).backward(ow.tensor([1.0, 3.0], device="plain"))
    assert x.grad is not None
    assert x.grad.cpu().tolist() == [2.0, 6.0]


def test_what_it_does_not_compute() -> None:
    x = ow.tensor([[1.0, 2.0], [3.0, 4.0]], device="plain")
    for call, name, reason in (
        (lambda: x * x, "mul", "with these arguments: the device has no run for such calls of the family elementwise"),
        (lambda: x + x.t(), "add", "with these arguments"),
        (lambda: x + 1, "add", "with these arguments"),
        (x.sum, "sum", "the device has no run for such calls of the family reduce"),
        (lambda: x.cumsum(0), "cumsum", "family scan"),
        (lambda: x @ x, "mm", "family extern"),
        (lambda: x.softmax(0), "softmax", "family rows"),
        (lambda: ow.ones(2, device="plain"), "ones", "family factory"),
        (lambda: x.sort(), "sort", "family core"),
        (lambda: x.gather(0, x.new_zeros((1, 1), dtype=ow.int64)), "zeros", "family factory"),
        (lambda: x.triu(), "triu", "with these arguments"),
        (lambda: ow.linalg.inv(x), "lapack_getri", "family lapack"),
        (lambda: x.uniform_(), "uniform_", "family random"),
    ):
        with pytest.raises(NotImplementedError, match=rf"{name}.*device plain:0.*{reason}"):
            call()


@pytest.mark.usefixtures("fallback")
def test_everything_else_goes_to_the_fallback() -> None:
    x = ow.tensor([[1.0, 2.0], [3.0, 4.0]], device="plain")
    assert (x * x + x.t() + x + 1).sum().item() == 30.0 + 10.0 + 10.0 + 4.0
    assert (x @ x).softmax(0).argmax(0).tolist() == [1, 1]


def test_a_function_that_fails() -> None:
    x = ow.empty(2000, device="plain")
    with pytest.raises(RuntimeError, match=r"add\(\) failed on the device plain:0"):
        x + x


def test_handlers_are_asked_before() -> None:
    @library.register("add", "plain")
    def three(op: object, args: object, out: object, mode: int) -> ow.Tensor:
        return ow.tensor(3.0)

    x = ow.empty(2, device="plain")
    try:
        assert (x + x).item() == 3.0
    finally:
        dispatcher.unregister("plain", ow.ops.aten.add.Tensor.op)


def test_results_that_are_only_made() -> None:
    x = ow.tensor([1.0, 2.0], device="plain")
    op = ow.ops.aten.mul.Tensor.op
    made = library.make_results(op, (x, x))
    assert (made.device, made.shape) == (x.device, (2,))
    on_cpu = ow.ones(2)
    assert library.make_results(op, (on_cpu, on_cpu), on_cpu, library.OUT) is on_cpu
    assert on_cpu.tolist() == [1.0, 1.0]


def test_families_that_there_are_not() -> None:
    """They are refused, and take no room from other kinds."""
    for _ in range(9):
        with pytest.raises(ValueError, match="there is no family elementary of operators"):
            library.register_device(
                library.Device("misnamed", *[lambda *_: None] * 4, runs={"elementary": 1})  # type: ignore[arg-type]
            )
