"""Results that are views of what an operator makes on its way are tensors of their own, those of arguments do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest

CALLS: dict[str, Callable[[Any], Any]] = {
    "matmul": lambda t: t @ t.mT,
    "matmul of a vector": lambda t: ow.ones(4) @ t,
    "kron": lambda t: ow.kron(t[0, 0], t[0, 0]),
    "rot90": lambda t: ow.rot90(t, 1, (2, 3)),
    "group_norm": lambda t: ow.nn.functional.group_norm(t, 3),
    "quantile": lambda t: ow.quantile(t, 0.5, dim=1),
    "interpolate": lambda t: ow.nn.functional.interpolate(t, (3, 3), mode="bilinear"),
    "solve": lambda t: ow.linalg.solve(ow.eye(4) + t @ t.mT, ow.ones(2, 3, 4)),
}


def values() -> Any:
    return ow.arange(96.0).sin().reshape(2, 3, 4, 4).clone()


@pytest.mark.parametrize("name", CALLS)
def test_result_is_no_view(name: str) -> None:
    for context in (ow.enable_grad(), ow.no_grad(), ow.device("cpu")):  # a default device is for the dispatcher
        with context:
            found = CALLS[name](values())
        assert found._base is None
        found.detach_()


@pytest.mark.parametrize("name", CALLS)
def test_history_is_kept(name: str) -> None:
    x = values().requires_grad_()
    found = CALLS[name](x)
    assert found._base is None
    (want,) = ow.autograd.grad(found.sum(), x, retain_graph=True)
    found.mul_(2)
    (got,) = ow.autograd.grad(found.sum(), x)
    ow.testing.assert_close(got, 2 * want)
    leaf = CALLS[name](x).detach_()
    assert not leaf.requires_grad
    assert leaf.is_leaf


def test_views_of_arguments() -> None:
    x = values()
    pair = [x[0], x[1]]
    views = ow.movedim(x, 0, 1), x.unflatten(2, (2, 2)), x.flatten(), ow.atleast_3d(x[0, 0]), ow.swapaxes(x, 0, 1)
    for found in views:
        assert found._base is x
    assert all(each._base is x for each in ow.broadcast_tensors(*pair))
    assert all(each._base is x for each in ow.tensor_split(x, 2))
    with pytest.raises(RuntimeError, match="Can't detach views"):
        ow.movedim(x, 0, 1).detach_()


def test_writing_to_a_view_of_an_argument_reaches_it() -> None:
    x = values().requires_grad_()
    y = x * 1
    ow.movedim(y, 0, 1)[:, 0].zero_()
    y.sum().backward()
    assert x.grad[0].eq(0).all()
    assert x.grad[1].eq(1).all()
