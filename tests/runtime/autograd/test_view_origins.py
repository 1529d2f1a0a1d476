"""Views that may not be overwritten as part of a graph, for how they were made; views that overlap themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest


def leaf(count: int = 4) -> ow.Tensor:
    return ow.ones(count, requires_grad=True)


def test_views_of_views_that_were_taken_while_nothing_was_recorded() -> None:
    y = leaf() * 1
    with ow.no_grad():
        view = y[:3]
    part = view[:2]
    with pytest.raises(RuntimeError, match=r"Output 0 of \w+ is a view of a view which was created in no_grad mode"):
        part.mul_(2)
    plain = ow.ones(4)
    with ow.no_grad():
        view = plain[:2]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view[:1].mul_(leaf(1))
    view.requires_grad_()
    with pytest.raises(RuntimeError, match="is a view of a view which was created in no_grad mode"):
        view[:1].mul_(3)


def test_views_that_were_taken_in_inference_mode() -> None:
    x = leaf()
    y = x * 1
    with ow.inference_mode():
        views = [x[1:], y[1:], y.detach(), y.view(2, 2)]
    assert [view.requires_grad for view in views] == [True, True, False, True]
    assert not any(view.is_inference() for view in views)
    with pytest.raises(
        RuntimeError, match="A view was created in inference mode and is being modified inplace in normal"
    ):
        views[1].mul_(2)
    plain = ow.ones(4)
    with ow.inference_mode():
        view = plain[1:]
    view.mul_(2)
    assert plain.tolist() == [1.0, 2.0, 2.0, 2.0]


def test_a_view_as_another_dtype_has_no_history() -> None:
    y = leaf() * 2
    for dtype in (ow.int32, ow.float32, ow.float64, ow.bfloat16):
        assert not y.view(dtype).requires_grad
    z = ow.ones(4, dtype=ow.complex64, requires_grad=True)
    assert not z.view(ow.float32).requires_grad
    y.view(ow.float64).zero_()
    assert y.tolist() == [0.0] * 4
    y.sum().backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.view(ow.int32).sum().backward()


# ---- what Functions return ----------------------------------------------------------------------------------


class Same(ow.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 3


class Itself(Same):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x


class PartOfNew(Same):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return (x * 2)[:]


class Two(Same):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x[1:], x[:1]

    @staticmethod
    def backward(ctx: Any, grad: Any, other: Any) -> Any:
        return ow.cat([other, grad])


WRITES: dict[str, tuple[Any, Callable[[Any, Any], Any], str]] = {
    "the view": (Same, lambda y, view: view.mul_(2), "Output 0 of Same is a view and is being .*custom Function"),
    "an input": (Itself, lambda y, view: view.mul_(2), "Output 0 of Itself is a view and is being .*custom Function"),
    "of what is new": (
        PartOfNew,
        lambda y, view: view.mul_(2),
        "Output 0 of PartOfNew is a view and is being .*custom",
    ),
    "a part of the view": (Same, lambda y, view: view[:1].mul_(2), "is a view and is being .*custom Function"),
    "the base": (Same, lambda y, view: (y.mul_(2), view + 1), "its base or another view of its base has been .*custom"),
    "one of two": (Two, lambda y, view: view[0].mul_(2), "returns multiple views"),
}


@pytest.mark.parametrize("case", WRITES)
def test_views_that_a_function_returns_are_not_overwritten(case: str) -> None:
    function, write, message = WRITES[case]
    y = leaf() * 1
    view = function.apply(y)
    with pytest.raises(RuntimeError, match=message):
        write(y, view)


def test_what_functions_return_otherwise() -> None:
    x = leaf()
    y = x * 1
    view = Itself.apply(y)
    assert view is not y
    assert view._base is y
    (view * 2).sum().backward()
    assert x.grad.tolist() == [6.0] * 4
    plain = ow.ones(3)
    Same.apply(plain).mul_(2)
    assert plain.tolist() == [2.0, 2.0, 2.0]


def dirty(forward: Callable[[Any, Any], Any]) -> Any:
    methods = {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, grad, *others: grad * 3)}
    return type("Dirty", (ow.autograd.Function,), methods).apply


def test_what_is_marked_dirty_is_returned() -> None:
    def forgets(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x.add_(1))
        return x * 2

    def returns(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x.add_(1))
        return x

    def returns_two(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x.add_(1))
        return x, x * 2

    def marks_a_number(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(3)
        return x

    message = "Some elements marked as dirty during the forward method were not returned"
    for x in (leaf() * 1, ow.ones(3)):
        with pytest.raises(RuntimeError, match=message):
            dirty(forgets)(x)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        dirty(returns)(leaf())
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        dirty(returns_two)((leaf() * 1)[1:])
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables"):
        dirty(marks_a_number)(leaf())
    x = leaf()
    y = x * 1
    assert dirty(returns)(y) is y
    dirty(returns)(y[1:])
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 9.0, 9.0, 9.0]


def test_defaults_of_forward_reach_setup_context() -> None:
    class Scaled(ow.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: int = 2, other: int = 3) -> Any:
            return x * factor * other

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.count, ctx.factor = len(inputs), inputs[1]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return (grad * ctx.factor, *[None] * (ctx.count - 1))

    x = leaf(2)
    Scaled.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert Scaled.apply(x, other=5).tolist() == [10.0, 10.0]


# ---- views that overlap themselves ---------------------------------------------------------------------------

OVERLAPPING: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "windows": (lambda x: x.unfold(0, 2, 1), [2.0, 4.0, 4.0, 2.0]),
    "by strides": (lambda x: x.as_strided((3, 2), (1, 1)), [2.0, 4.0, 4.0, 2.0]),
    "expanded": (lambda x: x.expand(3, 4), [6.0, 6.0, 6.0, 6.0]),
    "windows of a part": (lambda x: x[1:].unfold(0, 2, 1), [0.0, 2.0, 4.0, 2.0]),
    "steps": (lambda x: x.unfold(0, 2, 2), [2.0, 2.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("case", OVERLAPPING)
def test_the_base_of_an_overlapping_view_is_overwritten(case: str) -> None:
    view, expected = OVERLAPPING[case]
    w = leaf()
    x = w * 1
    overlapping = view(x)
    x.mul_(2)
    overlapping.sum().backward()
    assert w.grad.tolist() == expected


def test_a_window_is_overwritten() -> None:
    w = leaf()
    x = w * 1
    windows = x.unfold(0, 2, 1)
    windows[0].mul_(3)
    (windows * ow.arange(1.0, 7.0).view(3, 2)).sum().backward()
    assert w.grad.tolist() == [3.0, 15.0, 9.0, 6.0]


def test_windows_of_the_parts_of_complex_numbers() -> None:
    w = ow.ones(2, dtype=ow.complex64, requires_grad=True)
    x = w * 1
    windows = ow.view_as_real(x).as_strided((3, 2), (1, 1))
    x.mul_(2)
    (windows * ow.arange(1.0, 7.0).view(3, 2)).sum().backward()
    assert w.grad.tolist() == [2 + 10j, 18 + 12j]
