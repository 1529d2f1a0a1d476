"""Transforms of operators on the recorded sample inputs of torch's tests: `vmap` gives a stack of calls, and `jvp` what
two backward passes give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import opweave as ow
import pytest
from harness import recording
from harness.outcome import Error, restored
from harness.sample_inputs import function_of, rebuilt
from opweave.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

ANSWERS, TESTS = recording.load("test_derivatives_oracle")
LEFT_OUT = {
    "masked_select": "its shape depends on elements",
    "to_sparse": "its shape depends on elements",
    "nn.functional.linear_cross_entropy-chunked": "an argument is of a class that the recording has no values of",
    "nn.functional.linear_cross_entropy-chunked_none": "as of the one before",
}
CASES = {
    case: places
    for case, places in ((name.partition("[")[2].removesuffix("]"), places) for name, places in TESTS.items())
    if case.partition(" ")[2] not in LEFT_OUT
}


def samples(case: str) -> list[tuple[Callable[..., list[ow.Tensor]], list[ow.Tensor]]]:
    """The calls of a case, as functions of their floating tensors, and these."""
    found = []
    function = function_of(case.partition(" ")[2].partition("-")[0])
    _, _, *places = CASES[case]  # a checksum and the number of samples; then inputs and gradients in turn
    for place in places[::2]:
        given = restored(ANSWERS[place])
        if isinstance(given, Error):  # of a layout that has no numbers
            continue
        leaves, structure = tree_flatten(rebuilt(given, ow))
        at = [index for index, leaf in enumerate(leaves) if is_number(leaf)]

        def call(*tensors: ow.Tensor, leaves: Any = leaves, structure: Any = structure, at: Any = at) -> Any:
            given = list(leaves)
            for index, tensor in zip(at, tensors, strict=True):
                given[index] = tensor
            arguments, keywords = tree_unflatten(given, structure)
            ow.manual_seed(0)
            return [each for each in tree_leaves(function(*arguments, **keywords)) if is_number(each)]

        found.append((call, [leaves[index].detach() for index in at]))
    return found


def is_number(value: Any) -> bool:
    plain = isinstance(value, ow.Tensor) and value.layout is ow.strided
    return plain and (value.is_floating_point() or value.is_complex())


def close(got: Sequence[ow.Tensor], want: Sequence[ow.Tensor]) -> None:
    assert [(each.shape, each.dtype) for each in got] == [(each.shape, each.dtype) for each in want]
    for mine, theirs in zip(got, want, strict=True):
        ow.testing.assert_close(mine, theirs, equal_nan=True, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_vmap(case: str) -> None:
    for call, tensors in samples(case):
        batches = [ow.stack([each, each * 0.75]) for each in tensors]
        singles = [[batch[place].clone() for batch in batches] for place in range(2)]
        try:
            want = [ow.stack(list(each)) for each in zip(*(call(*single) for single in singles), strict=True)]
        except Exception:  # the call takes no other values
            continue
        close(ow.vmap(call)(*batches), want)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_jvp(case: str) -> None:
    for call, tensors in samples(case):
        ow.manual_seed(1)
        tangents = tuple(ow.randn_like(each) for each in tensors)
        try:
            results, product = ow.func.linearize(call, *tensors)
            want = product(*tangents)
        except RuntimeError:  # it has no such result, or no derivative
            continue
        got_results, got = ow.func.jvp(call, tuple(tensors), tangents)
        close([*got_results, *got], [*results, *want])
