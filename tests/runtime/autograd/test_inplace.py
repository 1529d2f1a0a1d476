"""Writing to tensors that are part of a graph: what is refused, what is noticed, and what becomes of views."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest
from harness import oracle
from harness.oracle import Like


def leaf(*values: float) -> Any:
    return ow.tensor(values, dtype=ow.float64, requires_grad=True)


def test_leaves_are_not_overwritten() -> None:
    x = leaf(1.0, 2.0)
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.fill_(2.0), lambda: x.copy_(x.detach())):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            write()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0].mul_(2)
    with pytest.raises(RuntimeError, match="a leaf Variable"):
        x[0] = 3.0
    with ow.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]
    assert x.requires_grad
    assert x.is_leaf


def test_saved_tensors_that_were_overwritten_are_noticed() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"modified by an inplace operation: \[opweave.DoubleTensor \[2\]\], which is "
        r"output 0 of Add, is at version 1; expected version 0 instead",
    ):
        z.sum().backward()


def test_results_that_were_overwritten_are_noticed() -> None:
    y = leaf(1.0).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()


def test_what_no_formula_needs_may_be_overwritten() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y + 1
    y.mul_(5)
    (z.sum() + y.sum()).backward()
    assert x.grad.tolist() == [12.0, 12.0]


@pytest.mark.parametrize(
    ("name", "derivative"),
    [
        ("exp_", lambda x: x.exp()),
        ("square_", lambda x: 2 * x),
        ("sigmoid_", lambda x: x.sigmoid() * (1 - x.sigmoid())),
    ],
)
def test_operators_in_place(name: str, derivative: Any) -> None:
    x = leaf(0.5, -1.0)
    y = x.clone()
    assert getattr(y, name)() is y
    y.sum().backward()
    assert ow.allclose(x.grad, derivative(x.detach()))


def test_a_view_that_is_overwritten() -> None:
    x = ow.ones(2, 3, dtype=ow.float64, requires_grad=True)
    y = x * 1
    row, other = y[0], y[:, 1]
    row.mul_(ow.tensor([1.0, 2.0, 3.0], dtype=ow.float64))
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert row.grad_fn.name() == "AsStridedBackward0"
    (y.sum() + row.sum() + 10 * other.sum()).backward()
    assert x.grad.tolist() == [[2.0, 24.0, 6.0], [1.0, 11.0, 1.0]]


def test_views_know_what_they_are_views_of() -> None:
    x = ow.zeros(4, 4)
    assert x._base is None
    for view in (
        x[0],
        x[1:],
        x.t(),
        x.view(16),
        x[0][1:],
        x.unbind()[0],
        x.split(2)[1],
        x.as_strided((2,), (1,)),
        x.unsqueeze(0).squeeze(0),
        x.expand(2, 4, 4),
        x.diagonal(),
    ):
        assert view._base is x
    for copy in (x.clone(), x + 0, x.detach(), x.data):
        assert copy._base is None


def test_assignment_into_a_tensor_without_history() -> None:
    w = leaf(1.0, 2.0)
    out = ow.zeros(3, 2, dtype=ow.float64)
    out[1] = w * 3
    out[2, 0] = w[1]
    assert out.requires_grad
    (out * out).sum().backward()
    assert w.grad.tolist() == [18.0, 36.0 + 4.0]


def test_assignment_by_index_tensors() -> None:
    w = leaf(1.0, 2.0)
    base = ow.ones(4, dtype=ow.float64, requires_grad=True)
    out = base * 2
    out[ow.tensor([0, 3])] = w
    (out * ow.arange(4.0, dtype=ow.float64)).sum().backward()
    assert w.grad.tolist() == [0.0, 3.0]
    assert base.grad.tolist() == [0.0, 2.0, 4.0, 0.0]


def test_a_view_of_a_tensor_without_history_that_gets_one() -> None:
    w = leaf(3.0)
    base = ow.zeros(2, dtype=ow.float64)
    base[:1].add_(w)
    assert base.requires_grad
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    base.sum().backward()
    assert w.grad.tolist() == [1.0]


def test_views_in_place() -> None:
    x = ow.arange(6.0, dtype=ow.float64).view(2, 3).requires_grad_()
    y = x * 1
    y.t_()
    (y * ow.arange(6.0, dtype=ow.float64).view(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


def test_detached_tensors_share_memory_and_versions() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    z = leaf(1.0) * 2
    assert z.detach_() is z
    assert not z.requires_grad
    assert z.is_leaf
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (leaf(1.0, 2.0) * 2)[0].detach_()


def test_data_is_the_same_memory_without_history() -> None:
    x = leaf(1.0, 2.0)
    x.data.mul_(3)
    assert x.tolist() == [3.0, 6.0]
    assert not x.data.requires_grad
    x.data = ow.zeros(2, dtype=ow.float64)
    assert x.requires_grad
    assert x.tolist() == [0.0, 0.0]


def test_a_view_taken_before_its_base_has_a_history() -> None:
    x = ow.ones(4, requires_grad=True)
    base = ow.zeros(4)
    first, rest = base[:2], base[2:]
    assert not first.requires_grad
    base.add_(x)
    assert first.requires_grad
    assert not first.is_leaf
    assert "AsStrided" in first.grad_fn.name()
    (first * 3).sum().backward()
    assert x.grad.tolist() == [3, 3, 0, 0]
    rest.mul_(2)
    assert base.requires_grad
    x.grad = None
    base.sum().backward()
    assert x.grad.tolist() == [1, 1, 2, 2]


def test_another_view_of_a_base_gets_a_history() -> None:
    x = ow.ones(2, requires_grad=True)
    base = ow.zeros(4)
    written, other = base[:2], base[1:3]
    written.add_(x)
    assert other.requires_grad
    (other * 5).sum().backward()
    assert x.grad.tolist() == [0, 5]


def test_a_view_taken_while_nothing_was_recorded_is_no_part_of_a_graph() -> None:
    x = ow.ones(4, requires_grad=True)
    base = ow.zeros(4)
    with ow.no_grad():
        view = base[:2]
    assert (view * 2).tolist() == [0, 0]
    base.add_(x)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view * 2
    with ow.no_grad():
        assert (view * 2).tolist() == [2, 2]


@pytest.mark.parametrize("change", [False, True])
def test_an_index_that_is_overwritten(change: bool) -> None:
    x, index = ow.arange(4.0).requires_grad_(), ow.tensor([0, 2])
    read = x[index]
    written = x * 1
    written[index] = ow.zeros(2)
    if change:
        index.add_(1)
        for result in (read, written):
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                result.sum().backward()
        return
    (read.sum() + written.sum()).backward()
    assert x.grad.tolist() == [1, 1, 1, 1]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        read.sum().backward()


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_a_view_older_than_the_wish_for_a_gradient(name: str) -> None:
    """It requires a gradient as its base does, and none arrives there."""
    package = pytest.importorskip(name)
    base = package.ones(3)
    view, integers = base[:2], base.view(package.int32)
    base.requires_grad_()
    assert view.requires_grad
    assert view.is_leaf
    assert view.grad_fn is None
    assert not integers.requires_grad
    doubled = view * 2
    assert doubled.requires_grad
    doubled.sum().backward()
    assert view.grad is None
    assert base.grad is None
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        view.mul_(2)
    assert base.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        view.backward(package.ones(2))
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        package.autograd.grad((view * 2).sum(), view)
    base.requires_grad_(False)
    assert not view.requires_grad


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_views_in_place_count_as_writing(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.ones(2, 3, requires_grad=True)
    y = x.exp()
    assert y.t_()._version == 1
    assert y.unsqueeze_(0)._version == 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert package.ones(2, 3).t_()._version == 1


OVERWRITING: dict[str, Any] = {
    "a number": lambda package, x, y: x.fill_(2.0),
    "a tensor's number": lambda package, x, y: x.fill_(y[0]),
    "zeros": lambda package, x, y: x.zero_(),
    "a copy": lambda package, x, y: x.copy_(y),
    "all of it": lambda package, x, y: (x.__setitem__(slice(None), y), x)[1],
    "a comparison": lambda package, x, y: x.gt_(y),
    "random numbers": lambda package, x, y: x.uniform_(),
    "whole random numbers": lambda package, x, y: x.random_(),
    "ones and zeros": lambda package, x, y: x.bernoulli_(y),
    "drawn from it": lambda package, x, y: package.bernoulli(x),
    "around it": lambda package, x, y: package.normal(x, y),
    "counts": lambda package, x, y: package.poisson(x),
    "filled like it": lambda package, x, y: package.fill(x, y[0]),
    "next to it": lambda package, x, y: x.nextafter(y),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", OVERWRITING)
def test_gradients_by_what_is_overwritten_are_zeros(case: str) -> None:
    def call(package: Any) -> Any:
        x, y = (package.tensor(values, requires_grad=True) for values in ([0.25, 0.5, 0.75], [0.25, 0.75, 0.5]))
        return package.autograd.grad(OVERWRITING[case](package, x * 1, y).sum(), (x, y), allow_unused=True)

    oracle.check(call, case, Like(strides=False))


SEVERAL: dict[str, Any] = {
    "split": lambda x: x.split(1)[0],
    "split by sizes": lambda x: x.split([1, 1])[1],
    "chunk": lambda x: x.chunk(2)[0],
    "unbind": lambda x: x.unbind()[0],
    "iteration": lambda x: next(iter(x)),
    "a view of one": lambda x: x.unbind()[0][1:],
}


@pytest.mark.parametrize("name", ["opweave", "torch"])
@pytest.mark.parametrize("case", SEVERAL)
def test_one_of_several_views_is_not_overwritten(case: str, name: str) -> None:
    package = pytest.importorskip(name)
    views = SEVERAL[case]
    with pytest.raises(RuntimeError, match=r"is a view and is being modified inplace.*returns multiple views"):
        views(package.ones(2, 3, requires_grad=True) * 1).mul_(2)
    base = package.ones(2, 3, requires_grad=True) * 1
    part = views(base)
    base.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        part * 2
    plain = package.ones(2, 3)
    views(plain).mul_(2)
    assert plain.sum().item() > 6
    for unsafe in (lambda x: x.unsafe_split(1)[0], lambda x: x.unsafe_chunk(2)[0]):
        unsafe(package.ones(2, 3, requires_grad=True) * 1).mul_(2)


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_leaves_that_are_detached_or_asked_anew(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.ones(2, requires_grad=True)
    y = x * 2
    x.detach_()
    assert not x.requires_grad
    y.sum().backward(retain_graph=True)
    assert x.grad is None
    x.requires_grad_()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Can't detach views"):
        package.ones(2)[:1].detach_()


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_views_of_copies_are_no_views_of_the_original(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.ones(2, 3, requires_grad=True)
    y = x * 1
    copied = y.t().reshape(-1)
    copied.mul_(3)
    (y.sum() + copied.sum()).backward()
    assert x.grad.tolist() == [[4.0] * 3] * 2
    with package.no_grad():
        assert not x.t().reshape(-1).requires_grad
        assert x.reshape(-1).requires_grad


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_an_expanded_view_of_what_was_overwritten(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.ones(3, requires_grad=True)
    y = x * 1
    wide = y.expand(2, 3)
    y.mul_(2)
    (wide * package.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0]


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_part_of_an_expanded_view_is_overwritten(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.ones(3, requires_grad=True)
    y = x * 2
    wide = y.expand(2, 3)
    wide[0, :2] = 5.0
    (wide * package.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert wide.tolist() == [[5.0, 5.0, 2.0]] * 2
    assert x.grad.tolist() == [0.0, 0.0, 12.0]


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_results_are_kept_only_where_a_formula_asks(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.tensor([2.0, 3.0], requires_grad=True)
    y = (x * 1).pow_(2)
    y.fill_(1.0)  # a derivative by the exponent alone would use the result
    (y * x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("write", [lambda x: x.masked_fill_(x > 0, 5), lambda x: x.uniform_(), lambda x: x.mul_(2)])
def test_views_taken_while_nothing_is_recorded_do_not_overwrite_leaves(write: Any) -> None:
    x = leaf(1.0, 2.0)
    with ow.no_grad():
        view = x[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        write(view)
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_views_of_unrecorded_views_are_not_overwritten(name: str) -> None:
    package = pytest.importorskip(name)
    base = package.ones(2, 3, requires_grad=True) * 1
    with package.no_grad():
        view = base[0]
    for again in (view[1:], view.reshape(-1), view.unsqueeze(0)):
        with pytest.raises(RuntimeError, match=r"(A|a) view (was|of a view which was) created"):
            again.mul_(2)


def test_memory_of_what_requires_a_gradient_keeps_its_size() -> None:
    for resize in (lambda x: x.resize_(4), lambda x: x.resize_as_(ow.ones(4))):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            resize(leaf(1.0, 2.0))


def test_positions_have_no_history() -> None:
    x = leaf(3.0, 1.0)
    for positions in (x.argmax(), x.argmin(0), x.argsort(), x.multinomial(1), x.max(0)[1], x.nonzero()):
        assert not positions.requires_grad


COMPOSITES: dict[str, tuple[Any, list[float]]] = {
    "renorm": (lambda x: x.view(1, 3).renorm_(2, 0, 3.0), [0.4582, 0.1145, -0.2291]),
    "polygamma": (lambda x: x.polygamma_(1), [-2.4041, -0.4041, -0.1541]),
    "nextafter": (lambda x: x.nextafter_(ow.zeros(3)), [1.0, 1.0, 1.0]),
    "nextafter of itself": (lambda x: x.nextafter_(x), [0.0, 0.0, 0.0]),
    "rrelu": (lambda x: ow.rrelu_(x.neg_()), [-0.2292, -0.2292, -0.2292]),
    "ldexp": (lambda x: x.ldexp_(ow.tensor([1, 2, 3])), [2.0, 4.0, 8.0]),
    "mvlgamma": (lambda x: x.mvlgamma_(1), [-0.5772, 0.4228, 0.9228]),
    "addr": (lambda x: x.view(1, 3).addr_(ow.ones(1), x.detach().clone()), [1.0, 1.0, 1.0]),
}


@pytest.mark.parametrize("case", COMPOSITES)
@pytest.mark.parametrize("is_part", [False, True])
def test_operators_made_of_others_in_place(case: str, is_part: bool) -> None:
    """What they keep of their first input outlives it, and the input itself as well."""
    write, expected = COMPOSITES[case]
    x = ow.tensor([1.0, 2.0, 3.0, 4.0][: 4 if is_part else 3], requires_grad=True)
    y = x * 1
    write(y[:3] if is_part else y)
    y[:3].sum().backward()
    assert x.grad[:3].tolist() == pytest.approx(expected, abs=1e-4)


def test_operators_made_of_others_in_place_of_what_has_no_history() -> None:
    w, y = ow.tensor([2.0], requires_grad=True), ow.tensor([0.0, 1.0])
    y.ldexp_(w)
    y.sum().backward()
    assert w.grad.tolist() == pytest.approx([2.7726], abs=1e-4)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w.polygamma_(1)


RESULTS: dict[str, Any] = {
    "median": lambda x: x.median(0)[0],
    "nanmedian": lambda x: x.nanmedian(0)[0],
    "mode": lambda x: x.mode(0)[0],
    "kthvalue": lambda x: x.kthvalue(2, 0)[0],
    "max": lambda x: x.max(0)[0],
    "min": lambda x: x.min(0)[0],
}


@pytest.mark.parametrize("case", RESULTS)
def test_results_that_are_chosen_elements_are_overwritten(case: str) -> None:
    x = ow.tensor([[1.0, 5.0], [3.0, 2.0], [2.0, 4.0]], requires_grad=True)
    result = RESULTS[case](x)
    assert result._base is None
    result.mul_(1.5)
    result.sum().backward()
    assert x.grad.sum(0).tolist() == [1.5, 1.5]
    assert x.grad.count_nonzero().item() == 2


@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
def test_the_mean_beside_a_spread_may_be_overwritten(name: str) -> None:
    x = ow.tensor([1.0, 2.0, 6.0], requires_grad=True)
    spread, mean = getattr(ow, name)(x)
    (spread**2 + mean.mul_(3)).backward()
    power = 2 if name == "var_mean" else 1  # of the variance, 7, in what is differentiated
    outer = 2 * 7.0 if power == 2 else 1.0
    want = [outer * (each - 3.0) + 1.0 for each in (1.0, 2.0, 6.0)]
    assert x.grad.tolist() == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(
    "write",
    [
        lambda x, y: x.copy_(y),
        lambda x, y: x.__setitem__(slice(None), y),
        lambda x, y: x.fill_(y[0]),
        lambda x, y: x.gt_(y),
        lambda x, y: x.logical_or_(y),
        lambda x, y: x.masked_fill_(ow.tensor([True, True]), y[0]),
    ],
)
@pytest.mark.parametrize("dtype", [ow.int64, ow.bool], ids=str)
def test_integers_have_no_history(write: Any, dtype: Any) -> None:
    x, y = ow.zeros(2, dtype=dtype), ow.ones(2, requires_grad=True)
    write(x, y)
    assert not x.requires_grad
    assert x.grad_fn is None


def test_a_view_that_has_lost_its_history_is_printed() -> None:
    base = ow.ones(2, requires_grad=True).clone()
    first, _ = base.unbind()
    base.add_(1)
    assert repr(first) == "tensor(2., grad_fn=<Invalid>)"
    with pytest.raises(RuntimeError, match="returns multiple views"):
        _ = first.grad_fn
