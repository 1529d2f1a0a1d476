"""Rounding to integers and products of bytes, compared with torch's recorded answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness.oracle import Like, check

pytestmark = pytest.mark.oracle

NUMBERS = np.random.default_rng(3).normal(0, 4, (6, 5, 4)).astype(np.float32).round(2)
SCALES = np.linspace(0.05, 0.3, 6).astype(np.float32)


def numbers(library: Any, *sizes: int) -> Any:
    flat = library.tensor(NUMBERS.reshape(-1).tolist())
    return flat.view(sizes or NUMBERS.shape)


@pytest.mark.parametrize("dtype", ["quint8", "qint8", "qint32"])
def test_one_scale(dtype: str) -> None:
    for scale, zero_point in ((0.25, 3), (0.5, 100), (2.0, 0)):

        def call(library: Any, scale: float = scale, zero_point: int = zero_point) -> Any:
            q = library.quantize_per_tensor(numbers(library), scale, zero_point, getattr(library, dtype))
            return (
                q.int_repr(),
                q.dequantize(),
                q.relu().int_repr(),
                q.sort(1).values.dequantize(),
                q.mean(2).int_repr(),
            )

        check(call, f"{dtype} {scale} {zero_point}")


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scales_by_channel(axis: int) -> None:
    def call(library: Any) -> Any:
        sizes = NUMBERS.shape
        scales = library.tensor([0.25, 0.5, 1.0, 2.0, 0.125, 4.0][: sizes[axis]])
        zero_points = library.tensor([0, 3, -7, 10, 100, -100][: sizes[axis]])
        q = library.quantize_per_channel(numbers(library), scales, zero_points, axis, library.qint8)
        return (
            q.int_repr(),
            q.dequantize(),
            q.q_per_channel_scales(),
            q.q_per_channel_zero_points(),
            q.q_per_channel_axis(),
        )

    check(call, f"axis {axis}")


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_fake_quantization_by_channel(axis: int) -> None:
    def call(library: Any) -> Any:
        x = numbers(library).requires_grad_()
        scales = library.tensor(SCALES[: x.shape[axis]].tolist())
        zero_points = library.tensor([0, 3, 7, 10, 100, 15][: x.shape[axis]], dtype=library.int32)
        y = library.fake_quantize_per_channel_affine(x, scales, zero_points, axis, 0, 127)
        y.sum().backward()
        return y, x.grad

    check(call, f"axis {axis}", Like(rtol=1e-6))


def test_fake_quantization() -> None:
    for scale, zero_point, low, high in ((0.1, 0, -20, 20), (0.25, 5, 0, 15), (1.0, 0, -128, 127)):

        def call(library: Any, given: tuple[Any, ...] = (scale, zero_point, low, high)) -> Any:
            x = numbers(library).requires_grad_()
            y = library.fake_quantize_per_tensor_affine(x, *given)
            y.sum().backward()
            return y, x.grad

        check(call, f"{scale} {zero_point}", Like(rtol=1e-6))


@pytest.mark.parametrize("sizes", [(17, 33, 16), (32, 128, 8), (40, 64, 72)])
def test_products(sizes: tuple[int, int, int]) -> None:
    n, m, p = sizes
    a, b = (np.random.default_rng(k).integers(-128, 128, shape) for k, shape in enumerate(((n, m), (m, p))))

    def call(library: Any) -> Any:
        left, right = (library.tensor(each.tolist(), dtype=library.int8) for each in (a, b))
        return library._int_mm(left, right)

    check(call, f"{n} x {m} x {p}")


@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
def test_averages_and_resampling(dtype: str) -> None:
    """Of scales whose products with halves are rounded, so that averages between two integers show of what they are."""
    for scale, zero_point in ((0.1, 3), (0.7, 100), (0.0137, 126)):

        def call(library: Any, scale: float = scale, zero_point: int = zero_point) -> Any:
            functions = library.nn.functional
            q = library.quantize_per_tensor(numbers(library, 2, 3, 5, 4), scale, zero_point, getattr(library, dtype))
            results = (
                functions.avg_pool2d(q, 2),
                functions.avg_pool2d(q, 3, 2, ceil_mode=True),
                functions.avg_pool2d(q, 3, 2, 1, count_include_pad=False),
                functions.avg_pool2d(q, 2, divisor_override=3),
                functions.avg_pool3d(q.reshape(1, 2, 3, 5, 4), 2, 2, 1, ceil_mode=True),
                functions.adaptive_avg_pool2d(q, (2, 3)),
                functions.interpolate(q, scale_factor=2, mode="bilinear"),
                functions.interpolate(q, size=(3, 9), mode="nearest"),
                q.mean(-1),
                q.mean((2, 3)),
            )
            return tuple(each.int_repr().contiguous() for each in results)

        check(call, f"{dtype} {scale} {zero_point}")


def test_ties_of_bilinear_interpolation() -> None:
    """Of several channels in C order: other kernels of torch round as the processor does."""
    integers = np.random.default_rng(5).integers(0, 256, (1, 2, 9, 11))

    def call(library: Any) -> Any:
        found = []
        for rows, columns in ((3, 5), (4, 6), (5, 7), (7, 5), (9, 11)):
            given = library.tensor(integers[..., :rows, :columns].tolist(), dtype=library.uint8)
            q = library._make_per_tensor_quantized_tensor(given, 0.1, 7)
            for size in ((5, 5), (7, 3), (6, 8), (11, 13)):
                for corners in (False, True):
                    resized = library.nn.functional.interpolate(q, size, mode="bilinear", align_corners=corners)
                    found.append(resized.int_repr())
        return tuple(found)

    check(call, "quint8")


def test_pools_and_convolutions_of_volumes() -> None:
    def call(library: Any) -> Any:
        functions = library.ao.nn.quantized.functional
        q, w = (
            library.quantize_per_tensor(numbers(library, *sizes), 0.1, zero_point, dtype)
            for sizes, zero_point, dtype in (((1, 5, 2, 3, 4), 3, library.quint8), ((5, 1, 2, 3, 4), 0, library.qint8))
        )
        signal = q.reshape(1, 5, 24)
        results = (
            functions.avg_pool3d(q, 2, None, 1),
            functions.adaptive_avg_pool3d(q, (1, 2, 3)),
            functions.max_pool1d(signal, 3),
            functions.max_pool1d(signal, 4, 2, 1, 1, True),
            functions.conv3d(q, w, None, padding=1, groups=5, scale=2.0, zero_point=100),
            functions.upsample_nearest(q, (3, 4, 5)),
            functions.upsample_bilinear(q[:, :, 0], (5, 7)),
            functions.upsample(q[:, :, 0], scale_factor=2),
        )
        return tuple(each.int_repr().contiguous() for each in results)

    check(call, "quint8")


@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
def test_numbers_of_channels(dtype: str) -> None:
    """Scales are float64, of which no float32 is as near: products with integers are rounded once."""

    def call(library: Any) -> Any:
        scales = library.tensor([0.1, 0.7, 1 / 3], dtype=library.float64)
        zero_points = library.tensor([3, 100, 7])
        q = library.quantize_per_channel(numbers(library, 8, 3, 5), scales, zero_points, 1, getattr(library, dtype))
        written = q.clone()
        written.fill_(1.3)
        return q.dequantize(), written.int_repr(), written.dequantize()

    check(call, dtype)
