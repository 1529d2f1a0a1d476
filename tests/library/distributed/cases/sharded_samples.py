"""Operators on the recorded sample inputs of torch's tests, with sharded tensors: values and gradients are those of one
process. Four processes make a mesh of two dimensions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import opweave as ow
from harness import recording
from harness.outcome import Error, restored
from harness.sample_inputs import function_of, rebuilt
from opweave.distributed import init_device_mesh
from opweave.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from opweave.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

ANSWERS, TESTS = recording.load("test_derivatives_oracle")
LEFT_OUT = {"to_sparse", "linear_cross_entropy-chunked", "linear_cross_entropy-chunked_none"}
"""Results without strides, and arguments that recordings have no values of."""

EVERY = {2: 3, 4: 12}
"""Which operators are tried, by the number of processes: with one for 2, all are."""


def samples(every: int) -> Iterator[tuple[str, Any, list[Any], Any]]:
    """The name of an operator, the function, the leaves of a sample's arguments and their structure."""
    for name, places in list(TESTS.items())[::every]:
        case = name.partition("[")[2].removesuffix("]").partition(" ")[2]
        if case.rpartition(".")[2] in LEFT_OUT:
            continue
        for place in places[2::2]:
            given = restored(ANSWERS[place])
            leaves, structure = ([], None) if isinstance(given, Error) else tree_flatten(rebuilt(given, ow))
            tensors = [leaf for leaf in leaves if isinstance(leaf, ow.Tensor)]
            if any(each.ndim for each in tensors) and all(each.layout is ow.strided for each in tensors):
                yield case, function_of(case.partition("-")[0]), leaves, structure


def placements(mesh: Any, ndim: int, variant: int) -> list[Any]:
    if not ndim:
        return [Replicate()] * mesh.ndim
    dims = [variant + dim * (variant % 2) for dim in range(mesh.ndim)]
    return [Replicate() if (variant // 3 + number) % 4 == 3 else Shard(dim % ndim) for number, dim in enumerate(dims)]


def results(function: Any, leaves: list[Any], structure: Any, make: Callable[[Any, int], Any]) -> list[Any]:
    given = [make(leaf, place) if isinstance(leaf, ow.Tensor) else leaf for place, leaf in enumerate(leaves)]
    arguments, keywords = tree_unflatten(given, structure)
    ow.manual_seed(0)
    return [each for each in tree_leaves(function(*arguments, **keywords)) if isinstance(each, ow.Tensor)]


def gradients(function: Any, leaves: list[Any], structure: Any, make: Callable[[Any, int], Any]) -> list[Any]:
    inputs = []

    def differentiated(leaf: Any, place: int) -> Any:
        made = make(leaf, place)
        if made.is_floating_point() or made.is_complex():
            inputs.append(made.requires_grad_())
        return made

    found = [each for each in results(function, leaves, structure, differentiated) if each.requires_grad]
    if not found or not inputs:
        return []
    total = sum((each.abs() ** 2 if each.is_complex() else each * each).sum() for each in found)
    return [each for each in ow.autograd.grad(total, inputs, allow_unused=True) if each is not None]


def check(size: int, compute: Callable[..., list[Any]], tolerance: float) -> None:
    warnings.simplefilter("ignore")
    mesh = init_device_mesh("cpu", (2, 2) if size == 4 else (size,))
    failed = []
    for case, *sample in samples(EVERY[size]):
        try:
            want = compute(*sample, lambda leaf, _: leaf.detach().clone())
        except Exception:  # the call takes no such arguments, or has no gradient
            continue
        for variant in range(2):

            def distributed(leaf: Any, place: int, variant: int = variant) -> Any:
                where = placements(mesh, leaf.ndim, variant + place)
                return distribute_tensor(leaf.detach(), mesh, where, src_data_rank=None)

            try:
                got = [
                    each.full_tensor() if isinstance(each, DTensor) else each for each in compute(*sample, distributed)
                ]
                for mine, theirs in zip(got, want, strict=True):
                    ow.testing.assert_close(mine, theirs, equal_nan=True, rtol=tolerance, atol=tolerance / 100)
            except Exception as error:
                failed.append(f"{case}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


def case_values(rank, size):
    check(size, results, 1e-6)


def case_gradients(rank, size):
    check(size, gradients, 1e-5)
