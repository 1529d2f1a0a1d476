"""Convolutions of images whose channels are last, by kernels along channels: the values of those in C order."""

from __future__ import annotations

from typing import Any

import opweave
import pytest

from .memory_layouts import numbers

F = opweave.nn.functional
BOUNDS = {"float32": 1e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 4e-2, "complex64": 1e-5}
CALLS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "3x3": ((2, 16, 6, 5), (18, 16, 3, 3), {"padding": 1}),
    "strides": ((2, 16, 7, 9), (17, 16, 3, 2), {"padding": (0, 2), "stride": (2, 3)}),
    "dilation": ((1, 17, 7, 6), (16, 17, 2, 3), {"padding": (3, 2), "dilation": (3, 2)}),
    "same": ((2, 16, 5, 4), (16, 16, 2, 4), {"padding": "same"}),
    "one row": ((2, 16, 1, 6), (16, 16, 1, 3), {}),
    "one pixel": ((3, 16, 3, 3), (16, 16, 3, 3), {}),
    "one by one": ((2, 16, 5, 5), (16, 16, 1, 1), {"stride": 2}),
    "empty batch": ((0, 16, 5, 5), (16, 16, 3, 3), {"padding": 1}),
    "depthwise": ((2, 17, 6, 5), (17, 1, 3, 3), {"padding": 1, "groups": 17}),
    "depthwise, strides": ((2, 40, 9, 6), (40, 1, 2, 3), {"padding": (0, 1), "stride": (3, 2), "groups": 40}),
    "depthwise, dilation": ((1, 16, 7, 7), (16, 1, 3, 3), {"padding": 3, "dilation": (2, 3), "groups": 16}),
    "depthwise, several blocks": ((1, 33, 4, 14), (33, 1, 3, 3), {"padding": 1, "groups": 33}),
    "depthwise, wide margins": ((2, 16, 3, 9), (16, 1, 2, 3), {"padding": (4, 5), "stride": (1, 2), "groups": 16}),
    "groups": ((2, 32, 5, 4), (32, 16, 3, 3), {"groups": 2}),
    "few channels": ((2, 3, 5, 4), (16, 3, 3, 3), {}),
}
TRANSPOSED: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "2x2": ((2, 16, 3, 4), (16, 17, 2, 2), {"stride": 2}),
    "margins": ((2, 16, 3, 4), (16, 16, 3, 4), {"stride": (2, 3), "padding": (1, 2), "output_padding": (1, 2)}),
    "dilation": ((1, 18, 3, 4), (18, 16, 2, 3), {"dilation": (3, 2)}),
    "depthwise": ((2, 16, 3, 4), (16, 1, 3, 3), {"stride": 2, "groups": 16}),
    "empty batch": ((0, 16, 3, 4), (16, 16, 2, 2), {"stride": 2}),
}
NAMES = [("conv2d", name) for name in CALLS] + [("conv_transpose2d", name) for name in TRANSPOSED]


def tensors(function: str, name: str, dtype: str) -> tuple[list[Any], dict[str, Any]]:
    """An image, weights and a bias in C order, and the options of a call."""
    shape, sizes, options = (CALLS if function == "conv2d" else TRANSPOSED)[name]
    outputs = sizes[0] if function == "conv2d" else sizes[1] * options.get("groups", 1)
    made = [numbers(opweave, *each).sub(0.4).to(getattr(opweave, dtype)) for each in (shape, sizes, (outputs,))]
    return [each * (1 + 0.5j) if each.is_complex() else each for each in made], options


def last(tensor: Any) -> Any:
    return tensor.contiguous(memory_format=opweave.channels_last) if tensor.ndim == 4 else tensor.clone()


def outcomes(function: str, given: list[Any], options: dict[str, Any], biased: bool = True) -> list[Any]:
    """The result, its gradients, and those of the sum of their squares."""
    leaves = [each.detach().requires_grad_() for each in given[: 2 + biased]]
    result = getattr(F, function)(*leaves, **options)
    slope = numbers(opweave, *result.shape).to(result.dtype).requires_grad_()
    first = opweave.autograd.grad(result, leaves, slope, create_graph=True)
    total = sum((each * each.conj()).real.sum() for each in first)
    second = opweave.autograd.grad(total, [*leaves[:2], slope])
    return [result.detach(), *(each.detach() for each in first), *second]


@pytest.mark.parametrize("dtype", BOUNDS)
def test_values_and_gradients_are_those_of_c_order(dtype: str) -> None:
    wrong = []
    for function, name in NAMES:
        given, options = tensors(function, name, dtype)
        for biased in (True, False):
            expected = outcomes(function, given, options, biased)
            if not given[0].numel() and expected[2].any():
                wrong.append((function, name, "the gradient of weights is no zero"))
            found = outcomes(function, [*map(last, given)], options, biased)
            for place, (left, right) in enumerate(zip(found, expected, strict=True)):
                wide = [each.to(opweave.complex128 if each.is_complex() else opweave.float64) for each in (left, right)]
                size = float(wide[1].abs().max()) if wide[1].numel() else 0.0
                if left.dtype is not right.dtype or not opweave.allclose(
                    *wide, rtol=0, atol=BOUNDS[dtype] * (1 + size)
                ):
                    wrong.append((function, name, biased, place))
                if left.ndim == 4 and place < 3 and not left.is_contiguous(memory_format=opweave.channels_last):
                    wrong.append((function, name, biased, place, left.stride()))
    assert not wrong


@pytest.mark.parametrize(("size", "options"), [(7, {"padding": 1}), (15, {"padding": (0, 1), "stride": 2})])
def test_short_lines_of_c_order(size: int, options: dict[str, Any]) -> None:
    """Several images are copied to channels last, single ones are not."""
    images = numbers(opweave, 2, 20000 // size**2, size, size).sub(0.4).requires_grad_()
    weight = numbers(opweave, images.size(1), 1, 3, 3).sub(0.4).requires_grad_()
    together = images * 1
    together.retain_grad()
    found = F.conv2d(together, weight, groups=images.size(1), **options)
    expected = opweave.cat([F.conv2d(each, weight, groups=images.size(1), **options) for each in images.split(1)])
    opweave.testing.assert_close(found, expected)
    slope = numbers(opweave, *found.shape)
    for left, right in zip(
        *(opweave.autograd.grad(each, (images, weight), slope, retain_graph=True) for each in (found, expected)),
        strict=True,
    ):
        opweave.testing.assert_close(left, right)
    found.backward(slope)
    assert all(each.is_contiguous() for each in (found, together.grad))


def test_no_weight_meets_margins() -> None:
    image, weight = opweave.ones(1, 16, 5, 9), opweave.ones(16, 1, 3, 3)
    weight[:, :, 0, 0] = opweave.inf
    found = F.conv2d(last(image), last(weight), padding=1, groups=16)
    expected = opweave.full((1, 16, 5, 9), opweave.inf)
    expected[:, :, 0], expected[..., 0] = 6, 6
    expected[:, :, 0, [0, -1]] = expected[:, :, -1, 0] = 4
    assert found.equal(expected)


def test_weights_or_images_alone_have_channels_last() -> None:
    wrong = []
    for function, name in NAMES:
        given, options = tensors(function, name, "float32")
        expected = getattr(F, function)(*given, **options)
        for image, weight in ((given[0], last(given[1])), (last(given[0]), given[1])):
            found = getattr(F, function)(image, weight, given[2], **options)
            if not opweave.allclose(found, expected, rtol=1e-5, atol=1e-5):
                wrong.append((function, name))
    assert not wrong


def test_no_image_is_copied() -> None:
    wrong = []
    for function, name in NAMES:
        if name in ("groups", "few channels", "same", "empty batch"):
            continue
        given, options = tensors(function, name, "float32")
        given = [last(each).requires_grad_() for each in given]
        with opweave.autograd.profiler.profile() as profile:
            result = getattr(F, function)(*given, **options)
            opweave.autograd.grad(result, given, result.detach())
        copies = {"aten::clone", "aten::contiguous", "aten::copy_", "aten::_to_copy"}
        wrong += [(function, name, each.name) for each in profile.function_events if each.name in copies]
    assert not wrong
