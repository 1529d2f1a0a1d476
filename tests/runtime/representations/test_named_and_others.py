"""Named tensors with gradients, copies, files, subclasses, modes and other devices."""

from __future__ import annotations

import copy
import io
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any, ClassVar

import opweave
import pytest
from opweave.utils._python_dispatch import TorchDispatchMode
from representations.named import named


def leaf(text: str) -> opweave.Tensor:
    return named(text).clone().requires_grad_()


# ---- gradients ----------------------------------------------------------------------------------------------


def test_gradients_have_no_names() -> None:
    x, y = leaf("N:2,C:3"), leaf("2,3")
    (x * y).sum().backward()
    assert (x.grad.names, y.grad.names) == ((None, None), (None, None))
    assert x.grad.tolist() == y.grad.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sigmoid().sum("C"),
        lambda x: x.softmax("C").log(),
        lambda x: x.var("C"),
        lambda x: x.logsumexp(["N", "C"]),
        lambda x: x.cumsum("N").prod("C"),
        lambda x: x.max("C")[0] + x.median("C")[0],
        lambda x: x.t() @ x.rename("N", "D"),
        lambda x: x.flatten(["N", "C"], "f").unflatten("f", (("A", 3), ("B", 2))) ** 2,
        lambda x: x.align_to("C", "H", "N") * x.select("N", 0).align_to("C", "H", "N"),
        lambda x: x[0] * x[:, 1:].sum("N").sum(),
        lambda x: x.clone().mul_(2).add_(x).masked_fill(x > 3.5, 0.0),
        lambda x: opweave.cat([x, x * 2], "C").std("C"),
        lambda x: opweave.cdist(x, x.rename("M", "C") + 1),
        lambda x: opweave.nn.functional.linear(x, opweave.ones(4, 3, dtype=x.dtype)).relu(),
    ],
)
def test_gradients_are_those_without_names(function: Any) -> None:
    x = leaf("N:2,C:3")
    result = function(x)
    assert result.has_names() == bool(result.ndim)
    weight = opweave.arange(1.0, 1.0 + result.numel()).view(result.shape)
    result.backward(weight)
    steps = opweave.eye(6).view(6, 2, 3) * 1e-3
    numbers = []
    for step in steps:
        up, down = (function(named("N:2,C:3").double() + sign * step) for sign in (1, -1))
        numbers.append(((up - down).rename(None) * weight).sum().item() / 2e-3)
    assert x.grad.flatten().tolist() == pytest.approx(numbers, rel=1e-3, abs=1e-3)


def test_gradients_of_gradients() -> None:
    x = leaf("N:2,C:3")
    (first,) = opweave.autograd.grad((x**3).sum("C").sum(), x, create_graph=True)
    assert first.names == (None, None)
    (second,) = opweave.autograd.grad(first.sum(), x)
    assert second.tolist() == (6 * named("2,3")).tolist()


def test_a_gradient_with_names() -> None:
    x = leaf("N:2,C:3")
    with pytest.warns(UserWarning, match=r"Autograd was passed a named grad tensor with dims .'N', 'C'.\."):
        x.clone().backward(named("N:2,C:3"))
    assert x.grad.names == (None, None)
    assert x.grad.tolist() == named("2,3").tolist()


def test_hooks_and_graphs() -> None:
    x = leaf("N:2,C:3")
    y = x.clone()
    seen = []
    y.retain_grad()
    y.register_hook(lambda grad: seen.append(grad.names))
    y.sum("C").sum().backward()
    assert (seen, y.grad.names) == ([(None, None)], (None, None))
    assert y.grad_fn is not None
    assert (y.rename("A", "B").grad_fn, y.detach().grad_fn) != (None, None)
    with opweave.no_grad():
        assert (y * 2).names == ("N", "C")
    with opweave.inference_mode():
        assert (y.detach() * 2).names == ("N", "C")


def test_functions_of_users() -> None:
    class Double(opweave.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: opweave.Tensor) -> opweave.Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: opweave.Tensor) -> opweave.Tensor:
            return grad * 2 + 0 * ctx.saved_tensors[0]

    x = leaf("N:2,C:3")
    result = Double.apply(x)
    assert result.names == ("N", "C")
    result.sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2


# ---- copies and files ---------------------------------------------------------------------------------------


def test_copies() -> None:
    x = named("N:2,C:3")
    for copied in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0], copy.deepcopy(opweave.nn.Parameter(x))):
        assert (copied.names, copied.tolist()) == (("N", "C"), x.tolist())
    deep = copy.deepcopy(x)
    deep.rename_("A", "B")
    assert x.names == ("N", "C")


def test_files() -> None:
    x = named("N:2,C:3")
    for call in (
        lambda: pickle.dumps(x),
        lambda: pickle.dumps([x]),
        lambda: opweave.save(x, io.BytesIO()),
        lambda: opweave.save({"x": opweave.nn.Parameter(x)}, io.BytesIO()),
        lambda: ForkingPickler(io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(x),
    ):
        with pytest.raises(RuntimeError, match=r"NYI: Named tensors don't support serialization. Please drop"):
            call()
    assert pickle.loads(pickle.dumps(x.rename(None))).names == (None, None)


def test_data() -> None:
    x = named("N:2,C:3")
    assert x.data.names == ("N", "C")
    x.data = named("a:2,b:1,c:1")
    assert x.names == ("a", "b", "c")
    x.data = opweave.ones(2)
    assert x.names == (None,)


def test_other_libraries() -> None:
    x = named("N:2,C:3")
    assert x.numpy().tolist() == x.tolist() == opweave.from_dlpack(x).tolist()
    assert x.sum().item() == 21.0
    assert float(x[0, 1]) == 2.0


# ---- other keys ---------------------------------------------------------------------------------------------


def test_meta() -> None:
    x = opweave.empty(10**6, 10**6, names=("N", "C"), device="meta")
    assert x.sum("C").names == ("N",)
    assert (x + x).t().names == ("C", "N")
    assert (x @ x.rename("C", "D")).names == ("N", "D")


def test_conjugates() -> None:
    x = (named("N:2,C:3") + 1j).conj()
    assert x.is_conj()
    assert (x.names, x.t().names, x[0].names, x.resolve_conj().names) == (("N", "C"), ("C", "N"), ("C",), ("N", "C"))
    assert (x * 1j).sum("C").tolist() == (x.rename(None) * 1j).sum(1).tolist()


def test_subclasses() -> None:
    class Logged(opweave.Tensor):
        calls: ClassVar[list[str]] = []

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            cls.calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = named("N:2,C:3").as_subclass(Logged)
    result = (x + 1).sum("C")
    assert (type(result), result.names, Logged.calls) == (Logged, ("N",), ["add", "sum"])


def test_modes() -> None:
    class Log(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.calls: list[tuple[str, Any]] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.calls.append((str(func), args[1:]))
            return func(*args, **(kwargs or {}))

    x = named("N:2,C:3")
    with Log() as log:
        result = (x * 2).sum("C")
    assert (result.names, result.tolist()) == (("N",), [12.0, 30.0])
    assert log.calls == [("aten.mul.Tensor", (2,)), ("aten.sum.dim_IntList", (1,))]


def test_modules() -> None:
    layer = opweave.nn.Linear(3, 4)
    assert layer(named("N:2,C:3")).names == ("N", None)
    assert opweave.nn.Sequential(opweave.nn.ReLU(), opweave.nn.Softmax("C"))(named("N:2,C:3")).names == ("N", "C")
    split = opweave.nn.Unflatten("C", (("H", 3), ("W", 2)))
    assert split(named("N:2,C:6")).names == ("N", "H", "W")
    with pytest.raises(
        TypeError, match="unflattened_size must be tuple of tuples, but found element of type int at pos 0"
    ):
        opweave.nn.Unflatten("C", (3, 2))


def test_python_for_each_element() -> None:
    x = named("N:2,C:3").clone()
    assert x.apply_(lambda value: value + 1).tolist() == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
    assert x.map_(named("2,3"), lambda value, other: value - other).tolist() == [[1.0] * 3] * 2
    assert x.names == ("N", "C")
