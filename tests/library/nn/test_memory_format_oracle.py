"""In which order results and gradients lie in memory, for images and volumes in every order: as torch's do.

Where torch has gradients in C order because of how it computes them, here they have the order of what they are by, and
are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from harness import oracle

from .memory_layouts import (
    CALLS,
    DENSE,
    KEPT,
    KEPT_VOLUMES,
    RESULTS,
    VOLUMES,
    WEIGHTS,
    called,
    images,
    lines,
    strides,
    volumes,
)


def check(call: str, inputs: Callable[[Any], Iterable[tuple[str, Any]]], dims: int, gradients: bool) -> None:
    def found(library: Any) -> Any:
        return {name: _strides(library, call, x, dims, gradients) for name, x in inputs(library)}

    oracle.check(found, call)


def _strides(library: Any, call: str, x: Any, dims: int, gradients: bool) -> Any:
    try:
        results, weights = called(library, call, x.requires_grad_(gradients), dims)
    except (RuntimeError, ValueError, NotImplementedError):
        return None
    if not gradients:
        return strides(results)
    slope = library.ones(results[0].shape)
    return strides((*results, *library.autograd.grad(results[0], [x, *weights], slope)))


@pytest.mark.parametrize("call", lines(CALLS))
def test_results_and_gradients(call: str) -> None:
    check(call, images, 4, True)


@pytest.mark.parametrize("call", lines(WEIGHTS))
def test_weights_decide_as_well(call: str) -> None:
    check(call, images, 4, True)


@pytest.mark.parametrize("call", lines(RESULTS))
def test_results(call: str) -> None:
    check(call, images, 4, False)


@pytest.mark.parametrize("call", lines(DENSE))
def test_results_of_one_order(call: str) -> None:
    check(call, lambda library: images(library, dense=True), 4, False)


@pytest.mark.parametrize("call", lines(VOLUMES))
def test_volumes(call: str) -> None:
    check(call, volumes, 5, False)


@pytest.mark.parametrize("dims", [4, 5])
def test_gradients_that_arrive_in_the_order_of_results(dims: int) -> None:
    def found(library: Any) -> Any:
        inputs = images(library, dense=True) if dims == 4 else volumes(library)
        return {f"{call} of {name}": kept(library, call, x) for name, x in inputs for call in calls}

    def kept(library: Any, call: str, x: Any) -> Any:
        results, weights = called(library, call, x.requires_grad_(), dims)
        return strides(library.autograd.grad(results[0], [x, *weights], library.ones_like(results[0])))

    calls = lines(KEPT if dims == 4 else KEPT_VOLUMES)
    oracle.check(found, f"{dims} dimensions")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype: str) -> None:
    """Gradients of convolutions are left out: by which library torch computes them depends on the processor. Two
    functions torch does not have of halves."""

    def inputs(library: Any) -> Iterable[tuple[str, Any]]:
        return ((name, x.to(getattr(library, dtype))) for name, x in images(library))

    for call in lines(CALLS + RESULTS):
        if "local_response_norm" not in call and "antialias" not in call:
            check(call, inputs, 4, call in CALLS and "conv" not in call)


def test_modules() -> None:
    def found(library: Any) -> Any:
        nn = library.nn
        net = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.ConvTranspose2d(4, 2, 2)
        )
        x = library.ones(2, 3, 8, 8)
        contiguous = strides([net(x)])
        net = net.to(memory_format=library.channels_last)
        return contiguous, strides(net.parameters()), strides([net(x), net(x.to(memory_format=library.channels_last))])

    oracle.check(found, "modules")
