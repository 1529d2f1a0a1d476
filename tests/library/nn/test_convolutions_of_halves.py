"""Convolutions of bfloat16, whose sums of small integers are exact whatever instructions compute them."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest

CASES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 33, 13, 15), (65, 33, 3, 3), {"padding": 1}),
    ((1, 16, 20, 20), (31, 16, 5, 5), {"stride": 2, "padding": 2}),
    ((3, 64, 9, 9), (32, 64, 1, 1), {}),
    ((2, 48, 12, 12), (36, 16, 3, 3), {"groups": 3, "dilation": 2}),
    ((1, 300, 8, 8), (17, 300, 3, 3), {"padding": 1}),
    ((4, 40, 150), (24, 40, 7), {"padding": 3, "stride": 3}),
    ((1, 12, 7, 8, 9), (20, 12, 3, 2, 3), {"padding": 1}),
]


def _integers(*shape: int) -> Any:
    return ow.randint(-3, 4, shape).to(ow.bfloat16)


def _all(function: Any, tensors: list[Any], **options: Any) -> list[Any]:
    """The result and the gradients of its sum with weights, which are integers as well."""
    tensors = [each.detach().clone().requires_grad_() for each in tensors]
    result = function(*tensors, **options)
    weights = ow.arange(result.numel()).remainder(5).sub(2).view(result.shape)
    result.backward(weights.to(result.dtype))
    return [result.detach(), *(each.grad for each in tensors)]


@pytest.mark.parametrize(("image", "weight", "options"), CASES)
@pytest.mark.parametrize("transposed", [False, True])
def test_values_and_gradients(image: tuple[int, ...], weight: tuple[int, ...], options: Any, transposed: bool) -> None:
    """Sums are exact in float32, and are rounded once."""
    if transposed:
        weight = (image[1], weight[0] // options.get("groups", 1), *weight[2:])
    function = getattr(ow.nn.functional, f"conv{'_transpose' * transposed}{len(image) - 2}d")
    tensors = [_integers(*image), _integers(*weight)]
    if not transposed:  # which adds a bias to rounded sums
        tensors.append(_integers(weight[0]))
    found = _all(function, tensors, **options)
    expected = _all(function, [each.double() for each in tensors], **options)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype is ow.bfloat16
        assert ow.equal(one, other.float().to(ow.bfloat16))


def test_layouts_threads_and_margins() -> None:
    """Channels last and threads change nothing, and infinite weights are no sums of padding."""
    image, weight = _integers(5, 40, 17, 17), _integers(50, 40, 3, 3)
    convolve = ow.nn.functional.conv2d
    expected = convolve(image, weight, padding=1)
    last = ow.channels_last
    found = convolve(image.to(memory_format=last), weight.to(memory_format=last), padding=1)
    assert ow.equal(found, expected)
    threads = ow.get_num_threads()
    try:
        for n in (1, 2, 3):
            ow.set_num_threads(n)
            assert ow.equal(convolve(image, weight, padding=1), expected)
    finally:
        ow.set_num_threads(threads)
    image[:, 3] = 1
    weight[7, 3] = float("inf")
    found = convolve(image, weight, padding=1)
    finite = [n for n in range(50) if n != 7]
    assert ow.equal(found[:, finite], convolve(image, weight[finite], padding=1))
    assert found[:, 7, 1:-1, 1:-1].isinf().all()
