"""Functions of images whose channels are last in memory: the values of those in C order, and strides without values."""

from __future__ import annotations

from typing import Any

import opweave
import pytest

from .memory_layouts import CALLS, DENSE, RESULTS, VOLUMES, WEIGHTS, called, lines, numbers, strides

IMAGES = [each for each in lines(CALLS + WEIGHTS + RESULTS + DENSE) if "dropout" not in each and "empty" not in each]
IMAGES += ["F.group_norm(x, 2)", "F.group_norm(x, 2, w(c))"]
CHANNELS_LAST = {4: opweave.channels_last, 5: opweave.channels_last_3d}
BOUNDS = {"float32": 1e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 4e-2}


def agree(call: str, x: Any, dims: int) -> None:
    last = x.contiguous(memory_format=CHANNELS_LAST[dims])
    assert last.stride(1) == 1
    bound = BOUNDS[x.dtype.name]
    found = []
    for image in (x, last):
        results, weights = called(opweave, call, image.detach().requires_grad_(), dims)
        value = results[0]
        slope = numbers(opweave, *value.shape).to(value.dtype)
        found.append([*results, *(opweave.autograd.grad(value, weights, slope) if weights else ())])
    for expected, result in zip(*found, strict=True):
        assert result.dtype is expected.dtype
        assert opweave.allclose(result.double(), expected.double(), rtol=bound, atol=bound), call


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("call", IMAGES)
def test_values_are_those_of_c_order(call: str, dtype: str) -> None:
    if dtype != "float32" and "grid_sample" in call:
        return  # the grid of the call is of that dtype
    if dtype != "float32" and "zeros(c)" in call:
        call = call.replace("zeros(c)", "zeros(c, dtype=x.dtype)").replace("ones(c)", "ones(c, dtype=x.dtype)")
    agree(call, numbers(opweave, 2, 8, 6, 5, dtype=dtype), 4)


@pytest.mark.parametrize("call", lines(VOLUMES)[:-1])
def test_values_of_volumes(call: str) -> None:
    agree(call, numbers(opweave, 2, 4, 3, 2, 3), 5)


@pytest.mark.parametrize("call", lines(CALLS + WEIGHTS))
def test_gradients_by_images_are_those_of_c_order(call: str) -> None:
    x = numbers(opweave, 2, 8, 6, 5, dtype="float64")
    found = []
    for each in (x, x.contiguous(memory_format=opweave.channels_last)):
        leaf = each.requires_grad_()
        value = called(opweave, call, leaf, 4)[0][0]
        slope = numbers(opweave, *value.shape, dtype="float64")
        (first,) = opweave.autograd.grad(value, leaf, slope, create_graph=True)
        found.append(first.detach())
    assert opweave.allclose(found[0], found[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("call", lines(CALLS))
def test_strides_without_values(call: str) -> None:
    x = numbers(opweave, 2, 4, 6, 5).to(memory_format=opweave.channels_last)
    results, _ = called(opweave, call, x, 4)
    inferred, _ = called(opweave, call, x.to("meta"), 4)
    assert strides(inferred) == strides(results)


@pytest.mark.parametrize("size", [1, 1e25, 1e-25])
def test_groups_of_channels(size: float) -> None:
    """Values, gradients, and unless elements are far from one, those of their squares; of zeros as well."""
    wrong = []
    for shape, groups in (((2, 16, 5, 6), 4), ((1, 6, 3, 3), 6), ((3, 8, 4, 4), 1), ((2, 8, 2, 3, 4), 2)):
        for dtype in ("float32", "float64"):
            x = (numbers(opweave, *shape, dtype="float64").sub(0.4) * size).to(getattr(opweave, dtype))
            x[0, 0] = 0
            found = []
            for format in (opweave.contiguous_format, CHANNELS_LAST[len(shape)]):
                leaves = [x.contiguous(memory_format=format), *(numbers(opweave, 2, shape[1]).to(x.dtype) + 0.5)]
                leaves = [each.detach().requires_grad_() for each in leaves]
                result = opweave.nn.functional.group_norm(leaves[0], groups, *leaves[1:], eps=0.01)
                slope = numbers(opweave, *shape).to(x.dtype)
                first = opweave.autograd.grad(result, leaves, slope, create_graph=True)
                total = sum(each.square().sum() for each in first)
                second = opweave.autograd.grad(total, leaves[:2]) if size == 1 else ()
                found.append([result, *first, *second])
            bound = 1e-5 if dtype == "float32" else 1e-12
            for place, (expected, given) in enumerate(zip(*found, strict=True)):
                if (expected - given).abs().max() > bound * expected.abs().max():
                    wrong.append((shape, groups, dtype, place))
    assert not wrong


def test_rearrangements_do_not_share_memory() -> None:
    x = opweave.ones(1, 4, 2, 2)
    for result in (
        opweave.nn.functional.channel_shuffle(x, 1),
        opweave.nn.functional.pixel_shuffle(x, 1),
        opweave.nn.functional.pixel_unshuffle(x, 1),
        opweave.nn.functional.pad(x, (0, 0)),
    ):
        result.zero_()
    assert x.sum() == 16


@pytest.mark.parametrize("options", [{}, {"padding": 1, "stride": (2, 1)}, {"dilation": 2}, {"ceil_mode": True}])
def test_chosen_places_are_those_of_c_order(options: dict[str, Any]) -> None:
    x = opweave.randn(2, 5, 9, 7, generator=opweave.Generator().manual_seed(3))
    x[0, 0, 3, 3] = opweave.nan
    found = [
        opweave.nn.functional.max_pool2d(image, (2, 3), return_indices=True, **options)
        for image in (x, x.contiguous(memory_format=opweave.channels_last))
    ]
    for expected, result in zip(*found, strict=True):
        assert opweave.equal(result.nan_to_num(9), expected.nan_to_num(9))


@pytest.mark.parametrize(
    "call", ["conv2d(x, w)", "conv2d(x, w, b)", "conv2d(x, w, b, dilation=3)", "conv2d(x, w, b, 2)"]
)
def test_products_for_each_pixel(call: str) -> None:
    names = {"w": numbers(opweave, 6, 8, 1, 1), "b": numbers(opweave, 6)}
    x = numbers(opweave, 2, 8, 5, 3)
    last = x.contiguous(memory_format=opweave.channels_last)
    expected, result = (eval(f"F.{call}", {"F": opweave.nn.functional, "x": each, **names}) for each in (x, last))
    assert result.is_contiguous(memory_format=opweave.channels_last)
    assert opweave.allclose(result, expected, rtol=1e-5)


def test_pools_read_channels_where_they_are() -> None:
    """No copy is made in C order, neither of the image nor of the result."""
    x = numbers(opweave, 2, 8, 6, 5).to(memory_format=opweave.channels_last)
    called_operators: list[str] = []

    class Recording(opweave.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            called_operators.append(function.name())
            return function(*args, **(kwargs or {}))

    with Recording():
        opweave.nn.functional.avg_pool2d(x, 2, 1, 1)
        opweave.nn.functional.max_pool2d(x, 2, 1, 1)
    assert {"aten::mean_of_windows_of_channels2d", "aten::max_of_windows_of_channels2d"} <= set(called_operators)
    assert not [name for name in called_operators if "clone" in name or "contiguous" in name or "copy" in name]


def test_windows_are_apart() -> None:
    """The extent of what is read is computed for strides that are positive."""
    for name, dims, between in [
        ("mean_of_windows2d", 2, ()),
        ("mean_of_windows_of_channels2d", 2, ()),
        ("truncated_mean_of_windows2d", 2, ()),
        ("max_of_windows2d", 2, (1,)),
        ("max_of_windows_of_channels2d", 2, (1,)),
        ("mean_of_windows3d", 3, ()),
        ("truncated_mean_of_windows3d", 3, ()),
        ("max_of_windows3d", 3, (1,)),
    ]:
        kind = opweave.int64 if "truncated" in name else opweave.float32
        x = opweave.ones([2, *[6] * dims, 3][: dims + 1 + ("channels" in name)], dtype=kind)
        last = () if "max" in name else (1,)
        operator = getattr(opweave.ops.aten, name)
        for stride in (0, -1):
            steps = [1] * (dims - 1) + [stride]
            every = ([2] * dims, steps, [0] * dims, *([each] * dims for each in between), [3] * dims, *last)
            with pytest.raises(RuntimeError, match=f"at least 1 apart, but got a stride of {stride}"):
                operator(x, *every)
