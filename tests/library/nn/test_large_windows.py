"""Pooling with windows that reach far beyond the input, up to the largest that there are."""

from __future__ import annotations

import opweave
import pytest
from opweave.nn import functional


def _chosen_by_hand(values: list[float], size: int, numbers: tuple[int, ...]) -> list[tuple[float, int, float]]:
    """The largest element of each window, its position, and the sum of the window."""
    kernel, stride, padding, dilation = numbers
    result = []
    for window in range(size):
        places = [window * stride - padding + each * dilation for each in range(kernel)]
        inside = [each for each in places if 0 <= each < len(values)]
        best = max(inside, key=lambda each: (values[each], -each))
        result.append((values[best], best, sum(values[each] for each in inside)))
    return result


def test_windows_larger_than_the_input() -> None:
    """What no window has inside takes no time, and positions and divisors are those of the whole windows."""
    values = [2.0, -1.0, 5.0, 5.0, 0.0]
    a = opweave.tensor([values])
    for numbers in [
        (9, 1, 4, 1),
        (12, 3, 5, 1),
        (7, 2, 3, 1),
        (40, 9, 20, 1),
        (5, 1, 2, 2),
        (6, 4, 3, 2),
        (30, 2, 14, 1),
    ]:
        kernel, stride, padding, dilation = numbers
        largest, places = functional.max_pool1d(a, kernel, stride, padding, dilation, return_indices=True)
        expected = _chosen_by_hand(values, largest.shape[-1], numbers)
        assert list(zip(largest[0].tolist(), places[0].tolist(), strict=True)) == [each[:2] for each in expected], (
            numbers
        )
        if dilation == 1:
            means = functional.avg_pool1d(a, kernel, stride, padding)
            assert means[0].tolist() == pytest.approx([each[2] / kernel for each in expected], rel=1e-6), numbers


def test_dilated_windows_that_reach_over_all_padding() -> None:
    inf = float("inf")
    a = opweave.tensor([[1.0, 3.0, 2.0]], requires_grad=True)
    largest, places = functional.max_pool1d(a, 3, 1, 1, 2, return_indices=True)
    assert (largest.tolist(), places.tolist()) == ([[3.0]], [[1]])
    largest.sum().backward()
    assert a.grad.tolist() == [[0.0, 1.0, 0.0]]
    assert functional.max_pool1d(a, 2, 3, 0, 3, ceil_mode=True).tolist() == [[1.0]]
    assert functional.max_pool1d(a[:, :2], 2, 2, 1, 3).tolist() == [[-inf]]  # all that the window sees is outside
    image = opweave.arange(24.0).reshape(1, 3, 8)
    expected = [image[0, 1, 2:].tolist()]  # rows -1, 1 and 3
    assert functional.max_pool2d(image, (3, 2), 1, (1, 0), 2).tolist() == [expected]
    assert functional.max_pool3d(image[None, :, :, None], (3, 1, 2), 1, (1, 0, 0), 2)[0, 0].tolist() == [expected]
    channels_last = image[None].to(memory_format=opweave.channels_last)
    assert functional.max_pool2d(channels_last, (3, 2), 1, (1, 0), 2)[0].tolist() == [expected]


def test_the_largest_windows_there_are() -> None:
    most = 2**31 - 1
    for dims in (1, 2, 3):
        a = opweave.ones([1, 2, *[4] * dims], requires_grad=True)
        pool, largest = getattr(functional, f"avg_pool{dims}d"), getattr(functional, f"max_pool{dims}d")
        means = pool(a, most, 1, most // 2)
        assert means.unique().tolist() == pytest.approx([(4 / most) ** dims], rel=1e-6)
        means.sum().backward()
        assert a.grad.unique().tolist() == pytest.approx([4**dims / float(most) ** dims], rel=1e-5)
        assert largest(a, most, 1, most // 2, return_indices=True)[1].unique().tolist() == [0]
        assert pool(opweave.ones([1, 2, *[4] * dims], dtype=opweave.int64), most, 1, most // 2).count_nonzero() == 0


def test_numbers_of_windows_have_32_bits() -> None:
    for dims in (1, 2, 3):
        a = opweave.ones([1, 2, *[4] * dims])
        for number in (2**31, 2**40, 2**62):
            with pytest.raises(RuntimeError, match="without overflow: expected numbers of 32 bits for kernel_size"):
                getattr(functional, f"avg_pool{dims}d")(a, number, 1, number // 2)
            largest = getattr(functional, f"max_pool{dims}d")
            with pytest.raises(RuntimeError, match="expected numbers of 32 bits for stride"):
                largest(a, 2, number)
            message = "Invalid computed output size" if dims == 1 else "expected numbers of 32 bits for dilation"
            with pytest.raises(RuntimeError, match=message):
                largest(a, 2, 1, 0, number)


def test_gradients_of_means_refuse_windows_that_reach_nothing() -> None:
    """As the means themselves do: loops over such windows would not end."""
    for name, sizes in {
        "mean_of_windows2d": [1, 2, 2],
        "mean_of_windows_of_channels2d": [2, 2, 1],
        "mean_of_windows3d": [1, 2, 2, 2],
    }.items():
        dims, backward = len(sizes) - 1, getattr(opweave.ops.aten, f"{name}_backward_self")
        for kernel, stride, message in (
            (2**40, 1, "expected windows no larger than what they reach together"),
            (2, 0, "expected windows that are at least 1 apart"),
        ):
            numbers = ([kernel] * dims, [stride] * dims, [0] * dims, [2] * dims)
            with pytest.raises(RuntimeError, match=message):
                backward(opweave.ones(sizes), *numbers, 1.0, sizes)
