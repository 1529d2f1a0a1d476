"""`functionalize`: the same results and the same last values of arguments, by operators that write to nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from opweave import func, nn
from opweave.utils._python_dispatch import TorchDispatchMode

X = ow.arange(6.0).view(2, 3)


class Recorded(TorchDispatchMode):
    """The names of the operators that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func).removeprefix("aten.").removesuffix(".default"))
        return func(*args, **(kwargs or {}))


def through_views(x: Any) -> Any:
    y = x.clone()
    row = y[0]
    row.mul_(10)
    y.t()[1].add_(1)
    y.view(-1)[::2] = 7
    row += 1
    return y, row, y.diagonal().clone()


def made_within(x: Any) -> Any:
    total = ow.zeros(3, 2)
    total.t().copy_(x)
    total[1] = total[0]
    total.fill_diagonal_(9)
    other = ow.empty(2)
    other.fill_(x[0, 1])
    return total, other, x.new_ones(2).zero_()


def by_masks_and_indices(x: Any) -> Any:
    y = x * 1
    y[y > 3] = 0
    y[:, ow.tensor([0, 2])] = ow.tensor([5.0, 6.0])
    y.index_add_(0, ow.tensor([1]), y[:1].clone())
    return y.masked_fill_(y == 6, -1)


def to_out(x: Any) -> Any:
    result = ow.empty(2, 3)
    ow.add(x, x, out=result)
    return result.clamp_(max=6)


def channels_last(x: Any) -> Any:
    y = x.view(1, 2, 3, 1).to(memory_format=ow.channels_last)
    y[:, 1].mul_(2)
    return y


PROGRAMS: list[Callable[[Any], Any]] = [through_views, made_within, by_masks_and_indices, to_out, channels_last]
ALLOWED = {"_index_put_"}
"""What has a form in place alone: it is called with a tensor that nothing else has."""


def listed(value: Any) -> list[Any]:
    return [each.tolist() for each in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: Callable[[Any], Any], remove: str) -> None:
    functional = func.functionalize(program, remove=remove)
    with Recorded() as recorded:
        result = functional(X.clone())
    assert listed(result) == listed(program(X.clone()))
    assert {name for name in recorded.names if name.partition(".")[0].endswith("_") or ".out" in name} <= ALLOWED


def test_arguments_get_their_last_values() -> None:
    def program(x: Any, others: dict[str, Any]) -> Any:
        x.t()[0] = 5
        others["y"].add_(x)
        return x, others["y"] * 1

    plain, mapped = ([X.clone(), {"y": X.clone()}] for _ in range(2))
    want, got = program(*plain), func.functionalize(program)(*mapped)
    assert listed(want) == listed(got)
    assert (plain[0] == mapped[0]).all()
    assert (plain[1]["y"] == mapped[1]["y"]).all()
    got[0].zero_()
    assert (plain[0] == mapped[0]).all()  # which a result does not share


def test_with_other_transforms() -> None:
    def program(x: Any) -> Any:
        y = x.clone()
        y[0].mul_(x[1])
        return y.sum()

    gradient = func.grad(program)(X)
    assert (func.functionalize(func.grad(program))(X) == gradient).all()
    assert (func.grad(func.functionalize(program))(X) == gradient).all()
    assert (func.jvp(func.functionalize(program), (X,), (X,))[1] == (gradient * X).sum()).all()
    batch = ow.stack([X, 2 * X])
    assert (func.vmap(func.functionalize(program))(batch) == ow.stack([program(each) for each in batch])).all()
    assert (func.functionalize(func.vmap(program))(batch) == ow.stack([program(each) for each in batch])).all()


def test_modules() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.BatchNorm1d(4)).train()
    other = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.BatchNorm1d(4)).train()
    other.load_state_dict(model.state_dict())
    state = {name: each.detach().clone() for name, each in other.state_dict().items()}

    def call(state: Any, x: Any) -> Any:
        return func.functional_call(other, state, (x,))

    assert ow.allclose(func.functionalize(call)(state, X), model(X))
    assert all(ow.allclose(state[name].double(), each.double()) for name, each in model.state_dict().items())


def test_refusals() -> None:
    outside = X.clone()
    with pytest.raises(RuntimeError, match="received invalid argument for remove=views"):
        func.functionalize(through_views, remove="views")
    with pytest.raises(RuntimeError, match="mutating a non-functional tensor with a functional tensor is not allowed"):
        func.functionalize(lambda x: outside.add_(x))(X)
    with pytest.raises(RuntimeError, match=r"set_\(\) changes the memory of a tensor"):
        func.functionalize(lambda x: x.clone().set_())(X)
    assert (outside == X).all()
