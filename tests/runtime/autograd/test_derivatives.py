"""The derivative of every operator with a formula beside differences of its values, first and second order.

The operators are those of the catalogue that codegen writes. Elementwise ones are tried on several intervals, those of
other families by the calls below.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import partial
from operator import itemgetter
from typing import Any

import opweave as ow
import pytest
from harness.catalog import differentiable
from opweave import _operators
from opweave.autograd import gradcheck, gradgradcheck

INTERVALS = ((0.2, 0.8), (1.2, 1.8), (-0.8, -0.2), (2.1, 2.9))
"""No end of a piece of a piecewise function lies within."""
STEPS = {"floor_divide", "trunc_divide", "next_real", "heaviside", "fake_quantize_per_tensor_affine", "fake_quantized"}
ROUGH = {"float_power", "zeta", "igamma", "igammac", "erfinv", "ndtri"}
"""Operators whose second differences are too rough to compare."""


def drawn(count: int, low: float, high: float) -> list[Any]:
    """Inputs of one shape, none equal to another."""
    points = ow.linspace(low, high, 4 * count, dtype=ow.float64)
    return [points[start::count].clone().requires_grad_() for start in range(count)]


def with_numbers(function: Callable[..., Any], tensors: Collection[str]) -> Callable[..., Any]:
    """With a number for each parameter that has no default and is no tensor."""
    parameters = inspect.signature(function).parameters.values()
    named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    required = [each.name for each in named if each.default is each.empty]
    return partial(function, **{name: 0.5 for name in required if name not in tensors and name != "input"})


def stacked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, of which several results are one tensor."""

    def call(*given: Any) -> Any:
        results = function(*given)
        return ow.stack(results) if isinstance(results, tuple) else results

    return call


@pytest.mark.parametrize("operator", differentiable("elementwise"), ids=itemgetter("name"))
def test_elementwise(operator: dict[str, Any]) -> None:
    function = stacked(with_numbers(getattr(_operators, operator["name"]), operator["derivatives"]))
    inputs = [name for name, formula in operator["derivatives"].items()]
    by = [index for index, name in enumerate(inputs) if operator["derivatives"][name] is not None]
    tried = 0
    if operator["name"] in STEPS or "where" in operator["name"]:
        pytest.skip("has calls of its own")
    for low, high in INTERVALS:
        values = drawn(len(inputs), low, high)
        if not bool(function(*[each.detach() for each in values]).isfinite().all()):
            continue
        tried += 1
        given = [each if index in by else each.detach() for index, each in enumerate(values)]
        assert gradcheck(function, given)
        if operator["name"] not in ROUGH:
            differentiated = [each for each in given if each.requires_grad]
            assert twice(function, given, differentiated)
    assert tried


def twice(function: Callable[..., Any], given: list[Any], by: list[Any]) -> bool:
    """Second derivatives, of functions that have any."""
    first = ow.autograd.grad(function(*given).sum(), by, create_graph=True, allow_unused=True)
    if not any(each is not None and each.requires_grad for each in first):
        return True
    try:
        return gradgradcheck(function, given, atol=1e-4)
    except RuntimeError as error:
        # A formula may call an operator whose derivative is declined.
        assert "is not implemented" in str(error)  # noqa: PT017
        return True


def matrix(*shape: int) -> Any:
    count = 1
    for size in shape:
        count *= size
    # No two elements are equal, none is zero.
    points = (ow.arange(count, dtype=ow.float64) * 7 % count + 0.5) / count - 0.4
    return points.reshape(shape).requires_grad_()


def index(*values: int) -> Any:
    return ow.tensor(values)


CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(1, keepdim=True),
    "prod": lambda x: x.prod(0),
    "mean": lambda x: x.mean((0, 1)),
    "amax": lambda x: x.amax(1),
    "amin": lambda x: x.amin(),
    "nansum": lambda x: x.nansum(0),
    "max": lambda x: x.max(1)[0],
    "min": lambda x: x.min(),
    "logsumexp": lambda x: x.logsumexp(1),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(0),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(),
    "norm": lambda x: x.norm(3, 1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(0),
    "cummax": lambda x: x.cummax(1)[0],
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "view": lambda x: x.view(-1),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "select": lambda x: x.select(1, 2),
    "slice": lambda x: x[:, 1::2],
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "expand": lambda x: x.expand(2, 3, 4),
    "diagonal": lambda x: x.diagonal(1),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "as_strided": lambda x: x.as_strided((3, 3), (2, 1)),
    "flip": lambda x: x.flip(0),
    "repeat": lambda x: x.repeat(2, 1, 2),
    "repeat_interleave": lambda x: x.repeat_interleave(index(1, 0, 2), 0),
    "cat": lambda x: ow.cat([x, x * 2], 1),
    "stack": lambda x: ow.stack([x, x * 2], 1),
    "split": lambda x: x.split(3, 1)[1],
    "unbind": lambda x: x.unbind(1)[0],
    "sort": lambda x: x.sort(1)[0],
    "topk": lambda x: x.topk(2, 1)[0],
    "kthvalue": lambda x: x.kthvalue(2, 0)[0],
    "median": lambda x: x.median(1)[0],
    "index_select": lambda x: x.index_select(1, index(0, 0, 2)),
    "gather": lambda x: x.gather(1, index(0, 0, 2).reshape(3, 1)),
    "take": lambda x: x.take(index(0, 5, 5)),
    "index_add": lambda x: x.index_add(1, index(0, 0), x[:, :2]),
    "scatter_add": lambda x: x.scatter_add(1, index(0, 0, 2).reshape(3, 1), x[:, 3:]),
    "masked_select": lambda x: x.masked_select(x.detach() > 0),
    "masked_fill": lambda x: x.masked_fill(x.detach() > 0, 2),
    "getitem": lambda x: x[index(0, 0, 2), 1:3],
    "index_put": lambda x: x.index_put((index(0, 2),), x[:1] * 2),
    "tril": lambda x: x.tril(),
    "mm": lambda x: x.mm(x.t()),
    "mv": lambda x: x.mv(x[0]),
    "bmm": lambda x: x.unsqueeze(0).bmm(x.t().unsqueeze(0)),
    "addmm": lambda x: ow.addmm(x[:, :3], x, x.t(), beta=2, alpha=3),
    "addmv": lambda x: ow.addmv(x[:, 0], x, x[0]),
    "roll": lambda x: x.roll((1, 2), (0, 1)),
    "roll flattened": lambda x: x.roll(5),
    "einsum": lambda x: ow.einsum("ij,kj->ik", x, x),
    "einsum with a vector": lambda x: ow.einsum("nij,i->nj", x.unsqueeze(0), x[:, 0]),
    "cdist": lambda x: ow.cdist(x, x.flip(0) + 2),
    "layer_norm": lambda x: ow.nn.functional.layer_norm(x, (4,)),
    "pad": lambda x: ow.nn.functional.pad(x, (1, 2)),
    "dot": lambda x: x[0].dot(x[1]),
    "cummin": lambda x: x.cummin(1)[0],
    "norm of the largest": lambda x: x.norm(float("inf"), 1),
    "norm of the smallest": lambda x: x.norm(-float("inf"), 1),
    "mode": lambda x: x.mode(1)[0],
    "nanmedian": lambda x: x.nanmedian(1)[0],
    "frexp": lambda x: x.frexp()[0],
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "slice_scatter": lambda x: x.slice_scatter(x[:, :2], 1, 0, 4, 2),
    "view_as_complex": lambda x: ow.view_as_complex(x.reshape(3, 2, 2)),
    "index_fill": lambda x: x.index_fill(1, index(0, 2), x[0, 1]),
    "index_reduce": lambda x: x.index_reduce(1, index(0, 0), x[:, :2], "prod"),
    "scatter_reduce": lambda x: x.scatter_reduce(1, index(0, 0, 2).reshape(3, 1), x[:, 3:], "prod"),
    "fill": lambda x: ow.fill(x, x[0, 1]),
    "slice of a view": lambda x: x.slice(1, 0, 4, 2),
    "polar": lambda x: ow.polar(x[0] + 1, x[1]),
    "nextafter": lambda x: x.nextafter(x.detach() + 1),
    "floor_divide": lambda x: x.floor_divide(0.3),
    "division rounded towards zero": lambda x: x.div(0.3, rounding_mode="trunc"),
    "to": lambda x: x.to(ow.complex128),
    "copy": lambda x: ow.zeros(3, 4, dtype=ow.float64).copy_(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_families(name: str) -> None:
    function = CALLS[name]
    assert gradcheck(function, [matrix(3, 4)])
    assert gradgradcheck(function, [matrix(3, 4)], atol=1e-4)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "cumsum", "mm", "einsum", "view", "slice", "cat", "getitem"])
def test_complex_numbers(name: str) -> None:
    z = ow.complex(matrix(3, 4).detach(), matrix(3, 4).detach().flip(1)).requires_grad_()
    assert gradcheck(CALLS[name], [z])


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x, weights: ow.cov(x, aweights=weights.abs() + 0.5), ((3, 5), (5,))),
        (lambda x: ow.take_along_dim(x, ow.tensor([[-1, 0], [1, 2], [0, -2]]), 1), ((3, 5),)),
        (lambda x: ow.nn.functional.pad(x, (-1, 2), mode="circular"), ((1, 2, 5),)),
        (lambda x: ow.nn.functional.pad(x, (4, -2), mode="circular"), ((1, 2, 5),)),
        (ow.nn.functional.pdist, ((4, 3),)),
        (ow.nn.functional.pdist, ((1, 3),)),
    ],
    ids=["cov", "take_along_dim", "pad a cropped end", "pad a cropped start", "pdist", "pdist of one row"],
)
def test_composites(function: Callable[..., Any], shapes: tuple[tuple[int, ...], ...]) -> None:
    ow.manual_seed(0)
    inputs = [ow.rand(shape, dtype=ow.float64).requires_grad_() for shape in shapes]
    assert gradcheck(function, inputs)


@pytest.mark.parametrize("name", ["opweave", "torch"])
def test_norms_of_order_zero_have_no_gradient(name: str) -> None:
    package = pytest.importorskip(name)
    x = package.tensor([1.0, 0.0, 2.0], requires_grad=True)
    for norm in (x.norm(0), package.linalg.vector_norm(x, 0), package.dist(x, package.ones(3), 0)):
        assert norm.requires_grad
        assert package.autograd.grad(norm, x, retain_graph=True, allow_unused=True) == (None,)
        norm.backward()
    assert x.grad is None
