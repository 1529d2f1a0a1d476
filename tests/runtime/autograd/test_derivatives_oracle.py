"""Gradients, and gradients of gradients, of every operator beside those of torch, on the sample inputs of its tests.

Which inputs torch's table of operators has is recorded as well, for those samples that are small.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from harness import oracle, recording, sample_inputs
from harness.drawn import Drawn
from harness.oracle import Like
from harness.outcome import Described
from harness.sample_inputs import Sample, function_of, rebuilt, rounded, tensors

SAMPLES, RECORDED = 12, 2
LIKE = Like(rtol=1e-5, atol=1e-7, strides=False, grad=False, few=8)

# What is not compared, and why.
_ARGUMENTS = "the sample calls torch in a way that is not the documented one"
_RANDOM = "random numbers are compared elsewhere"
LEFT_OUT = {
    "bernoulli": _RANDOM,
    "nn.functional.dropout": _RANDOM,
    "nn.functional.rrelu": _RANDOM,
    "normal": _RANDOM,
    "einsum": _ARGUMENTS,
    "polygamma": _ARGUMENTS,
    "special.polygamma": _ARGUMENTS,
    "cdist": _ARGUMENTS,
    "to": _ARGUMENTS,
    "where": "the sample's condition is no bool",
    "zero_": "the sample is a leaf",
    "native_group_norm": "torch's means and deviations have a history, whose gradients it drops",
    "native_layer_norm": "as of native_group_norm",
    "nextafter": "torch declines as well, but later",
    "take_along_dim": "torch takes negative positions, of which its documentation knows nothing",
    "cov": "torch's gradient by the weights leaves out their sum",
    "as_strided_scatter": "of memory that no index reaches",
    "istft": "torch has no gradient by the window of complex spectra",
    "nn.functional.embedding": "tables of one dimension",
    "nn.functional.embedding_bag": _ARGUMENTS,
    "nn.functional.multi_head_attention_forward": _RANDOM,
    "nn.functional.pad": "circular margins of negative size differ in value",
    "nn.functional.pdist": "of one row, without a history",
    "linalg.eig": "the phases of vectors differ; test_linalg_derivatives.py has functions that do not depend on them",
    "linalg.eigh": "as of linalg.eig",
    "linalg.lstsq-grad_oriented": "the sample takes two of the four results",
    "linalg.norm-subgradients_at_zero": "torch's second derivatives are NaN",
    "masked.logaddexp": "torch's gradients are NaN where both inputs are masked",
    "linalg.pinv-singular": "the sample makes its matrix of two others",
    "pca_lowrank": "as of linalg.pinv-singular",
    "svd_lowrank": "as of linalg.pinv-singular",
    "as_strided-partial_views": "the sample's tensor is a view of a larger one, which is not copied",
}
ONCE = {"scatter_reduce", "index_reduce", "logcumsumexp", "nn.functional.hardsigmoid"}
ONCE |= {"nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss"}  # torch has none
ONCE |= {"cholesky_inverse", "cholesky_solve"}  # torch's depend on the triangle that is not read
ONCE |= {"nn.functional.instance_norm"}  # torch counts the gradient of the bias, a sum, as one that has a history
"""Second derivatives are not compared."""


def table() -> dict[str, Any]:
    return {name: op for name, op in sample_inputs.table().items() if compared(name, op)}


def compared(name: str, op: Any) -> bool:
    return op.supports_autograd and not {op.name, name} & LEFT_OUT.keys()


def cases() -> list[str]:
    if recording.SESSION.mode == "replay":
        return sample_inputs.recorded("test_derivatives_oracle")
    return [f"{dtype} {name}" for name in table() for dtype in ("float64", "complex128")]


def samples(name: str, dtype: str) -> list[Sample]:
    op = table()[name]
    if dtype not in map(sample_inputs.name_of, op.supported_backward_dtypes("cpu")):
        return []
    return sample_inputs.samples(op, dtype, SAMPLES, RECORDED, requires_grad=True)


# ---- gradients ----------------------------------------------------------------------------------------------


def derivatives(library: Any, function: Any, given: Described, twice: bool) -> Any:
    """Which results have a history, the gradients of sums of them, and those of the gradients; zeros where there is
    none."""
    arguments, keywords = rebuilt(given, library)
    outputs = list(tensors(function(*arguments, **keywords), library.Tensor))
    leaves = [each for each in tensors([arguments, keywords], library.Tensor) if each.requires_grad]
    recorded = [each.requires_grad for each in outputs]
    roots = [each for each in outputs if each.requires_grad]
    if not roots or not leaves:
        return recorded, [], []
    first = weighted(library, roots, leaves, twice)
    further = [each for each in first if each is not None and each.requires_grad] if twice else []
    second = weighted(library, further, leaves, False) if further else [None] * len(leaves)
    return recorded, *([zero_or(*pair) for pair in zip(gradients, leaves)] for gradients in (first, second))  # noqa: B905


def weighted(library: Any, roots: list[Any], leaves: list[Any], recorded: bool) -> Any:
    weights = []
    for index, each in enumerate(roots):
        drawn = Drawn(index)
        parts = drawn.normal(tuple(each.shape)), drawn.normal(tuple(each.shape))
        weights.append(library.from_numpy(np.asarray(parts[0] + 1j * parts[1] if each.is_complex() else parts[0])))
    return library.autograd.grad(roots, leaves, weights, allow_unused=True, create_graph=recorded)


def zero_or(gradient: Any, leaf: Any) -> Any:
    return leaf.detach() * 0 if gradient is None else gradient.detach()


@pytest.mark.parametrize("case", cases())
def test_gradients(case: str) -> None:
    dtype, _, name = case.partition(" ")
    live = [] if recording.SESSION.mode == "replay" else samples(name, dtype)
    count = oracle.ask(lambda _: len(live), "samples")
    function, twice = name.partition("-")[0], name.partition("-")[0] not in ONCE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in range(count):
            given = oracle.ask(lambda _, index=index: rounded([*live[index]]), f"inputs {index}", sample_inputs.INPUTS)
            what = f"gradients {index}"
            want = oracle.ask(lambda L, given=given: derivatives(L, table()[name].op, given, twice), what, LIKE)
            mine = function_of(function)
            oracle.agree(lambda L, given=given, mine=mine: derivatives(L, mine, given, twice), want, what, LIKE)
