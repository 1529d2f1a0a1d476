"""Average pooling that is a reduction: of parts of one size, or of one window. And where parts have several sizes."""

from __future__ import annotations

from itertools import product
from math import prod

import opweave as ow
import pytest
from opweave.nn import functional


def test_parts_of_one_size_are_windows() -> None:
    image = ow.arange(16.0).view(1, 4, 4)
    assert functional.adaptive_avg_pool2d(image, 2).tolist() == [[[2.5, 4.5], [10.5, 12.5]]]
    assert functional.adaptive_avg_pool2d(image, (1, 4)).tolist() == [[[6.0, 7.0, 8.0, 9.0]]]
    assert functional.adaptive_avg_pool1d(image[0], 2).tolist() == [[0.5, 2.5], [4.5, 6.5], [8.5, 10.5], [12.5, 14.5]]
    assert functional.adaptive_avg_pool3d(image.view(1, 1, 4, 2, 2), 1).tolist() == [[[[[7.5]]]]]


def test_parts_of_several_sizes_overlap() -> None:
    assert functional.adaptive_avg_pool1d(ow.arange(5.0).view(1, 5), 2).tolist() == [[1.0, 3.0]]


def test_halves_are_rounded_once() -> None:
    rows = ow.tensor([[1.0, 1.0 + 2**-10], [1.0, 1.0]], dtype=ow.float16)
    assert functional.adaptive_avg_pool2d(rows.view(1, 2, 2), 1).item() == 1.0
    wide = ow.tensor([[2048.0, 2.0], [2048.0, 2.0]], dtype=ow.float16).view(1, 2, 2)
    assert functional.adaptive_avg_pool2d(wide, 1).item() == 1025.0


def test_gradients() -> None:
    image = ow.rand(2, 4, 6, dtype=ow.float64, requires_grad=True)
    for size in (1, 2, (4, 3), 3):
        assert ow.autograd.gradcheck(lambda x, size=size: functional.adaptive_avg_pool2d(x, size), (image,))
    (gradient,) = ow.autograd.grad(functional.adaptive_avg_pool2d(image, 2).sum(), image)
    assert (gradient == 1 / 6).all()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_one_window_is_the_mean(dims: int) -> None:
    pool, adaptive = (getattr(functional, f"{prefix}avg_pool{dims}d") for prefix in ("", "adaptive_"))
    sizes = [4, 5, 3][:dims]
    image = (ow.arange(6.0 * prod(sizes)).view(2, 3, *sizes) % 7).double()
    inner = list(range(-dims, 0))
    for x in (image, image.float(), image.bfloat16(), image[:0], image.transpose(0, 1), image[0]):
        mean = x.mean(inner, keepdim=True)
        for found in (pool(x, sizes), adaptive(x, 1), pool(x, sizes, 7), pool(x, sizes, ceil_mode=True)):
            assert found.dtype is x.dtype
            assert found.equal(mean)
    wider = pool(image, [size + 2 for size in sizes], padding=1)
    assert ow.allclose(wider * prod(size + 2 for size in sizes), image.sum(inner, keepdim=True))
    if dims > 1:
        assert ow.allclose(pool(image, sizes, divisor_override=3) * 3, image.sum(inner, keepdim=True))
    assert ow.autograd.gradcheck(lambda x: pool(x, sizes), (image[:1].requires_grad_(),))
    assert pool(image.long(), sizes).dtype is ow.int64


def _parts(size: int, count: int) -> list[slice]:
    return [slice(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]


@pytest.mark.parametrize(
    ("sizes", "counts"), [((7,), (3,)), ((7, 5), (3, 4)), ((3, 18), (7, 5)), ((4, 3, 5), (3, 3, 2))]
)
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "transposed", "without a batch"])
def test_parts_of_several_sizes(sizes: tuple[int, ...], counts: tuple[int, ...], layout: str) -> None:
    """By the definition: each part by itself."""
    dims = len(sizes)
    image = ow.randn(2, 19, *sizes, dtype=ow.float64)
    image = {
        "contiguous": lambda: image,
        "channels last": lambda: image.movedim(1, -1).contiguous().movedim(-1, 1),
        "transposed": lambda: image.transpose(0, 1),
        "without a batch": lambda: image[1],
    }[layout]()
    means, (largest, places) = (
        getattr(functional, f"adaptive_{name}_pool{dims}d")(image, counts, **more)
        for name, more in (("avg", {}), ("max", {"return_indices": True}))
    )
    for at in product(*map(range, counts)):
        part = image[(..., *(_parts(size, count)[each] for size, count, each in zip(sizes, counts, at, strict=True)))]
        assert ow.allclose(means[(..., *at)], part.mean(list(range(-dims, 0))))
        assert largest[(..., *at)].equal(part.amax(list(range(-dims, 0))))
    assert image.flatten(-dims).gather(-1, places.flatten(-dims)).equal(largest.flatten(-dims))
    few = image.narrow(-dims - 1, 0, 2).detach().requires_grad_()
    for name in ("avg", "max"):
        pool = getattr(functional, f"adaptive_{name}_pool{dims}d")
        assert ow.autograd.gradcheck(lambda x, pool=pool: pool(x, counts), (few,))
        assert ow.autograd.gradgradcheck(lambda x, pool=pool: pool(x, counts), (few,))


@pytest.mark.parametrize("counts", [3, (7, 4), (5, 1)])
def test_halves_of_parts_of_several_sizes_are_rounded_once(counts: int | tuple[int, int]) -> None:
    image = ow.randn(3, 7, 6).bfloat16()
    assert functional.adaptive_avg_pool2d(image, counts).equal(
        functional.adaptive_avg_pool2d(image.float(), counts).bfloat16()
    )
