"""Gradients, and gradients of gradients, of every operator beside those of torch, on the sample inputs of its tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import opweave as ow
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")  # what torch's table of operators imports
op_db: list[Any] = pytest.importorskip("torch.testing._internal.common_methods_invocations").op_db

SAMPLES = 12
TOLERANCES = {"rtol": 1e-5, "atol": 1e-7, "equal_nan": True}

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
    "nextafter": "torch declines as well, but later",
    "take_along_dim": "torch takes negative positions, of which its documentation knows nothing",
    "cov": "torch's gradient by the weights leaves out their sum",
    "as_strided_scatter": "of memory that no index reaches",
    "istft": "torch has no gradient by the window of complex spectra",
    "nn.functional.embedding": "tables of one dimension",
    "nn.functional.pad": "circular margins of negative size differ in value",
    "nn.functional.pdist": "of one row, without a history",
    "cholesky_inverse": "torch has gradients by the triangle that is not read",
    "cholesky_solve": "torch has gradients by the triangle that is not read",
    "linalg.eig": "the phases of vectors differ; test_linalg_derivatives.py has functions that do not depend on them",
    "linalg.eigh": "as of linalg.eig",
    "linalg.lstsq-grad_oriented": "the sample takes two of the four results",
    "linalg.norm-subgradients_at_zero": "torch's second derivatives are NaN",
    "linalg.pinv-singular": "the sample makes its matrix of two others",
    "as_strided-partial_views": "the sample's tensor is a view of a larger one, which is not copied",
}
ONCE = {"scatter_reduce", "index_reduce", "logcumsumexp"}
"""Second derivatives are not compared."""


def function_of(name: str) -> Any:
    found: Any = ow
    for part in name.split("."):
        found = getattr(found, part, None)
    return found or getattr(ow.Tensor, name, None)


def ours(value: Any) -> Any:
    """A sample's argument as one of opweave."""
    if isinstance(value, torch.Tensor):
        tensor = ow.from_numpy(value.detach().resolve_conj().contiguous().numpy().copy())
        return tensor.requires_grad_() if value.requires_grad else tensor
    if isinstance(value, (torch.dtype, torch.memory_format)):
        return getattr(ow, str(value)[6:])
    if isinstance(value, (list, tuple)):
        return type(value)([ours(each) for each in value])
    if isinstance(value, dict):
        return {name: ours(each) for name, each in value.items()}
    return value


def tensors(value: Any, kind: type) -> Iterator[Any]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from tensors(each, kind)


def leaves(value: Any, kind: type) -> list[Any]:
    return [each for each in tensors(value, kind) if each.requires_grad]


def values(tensor: Any) -> Any:
    if isinstance(tensor, ow.Tensor):
        return tensor.detach().numpy()
    # (added to zeros, as some of torch's tensors are zeros without memory)
    return torch.zeros(tensor.shape, dtype=tensor.dtype).add(tensor.detach()).numpy()


def cases() -> Iterator[Any]:
    for op in op_db:
        name = f"{op.name}-{op.variant_test_name}".rstrip("-")
        if callable(function_of(op.name)) and op.supports_autograd and not {op.name, name} & LEFT_OUT.keys():
            yield pytest.param(op, id=name)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("op", list(cases()))
def test_gradients(op: Any, dtype: str) -> None:
    of = getattr(torch, dtype)
    if of not in op.supported_dtypes("cpu") or of not in op.supported_backward_dtypes("cpu"):
        pytest.skip("not differentiable there")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in islice(op.sample_inputs("cpu", of, requires_grad=True), SAMPLES):
            compare(op, [sample.input, *sample.args], dict(sample.kwargs))


def compare(op: Any, arguments: list[Any], keywords: dict[str, Any]) -> None:
    own, own_keywords = ours(arguments), ours(keywords)
    outputs = list(tensors(op.op(*arguments, **keywords), torch.Tensor))
    own_outputs = list(tensors(function_of(op.name)(*own, **own_keywords), ow.Tensor))
    assert [each.requires_grad for each in own_outputs] == [each.requires_grad for each in outputs]
    wanted, own_wanted = leaves([arguments, keywords], torch.Tensor), leaves([own, own_keywords], ow.Tensor)
    roots, own_roots = ([each for each in found if each.requires_grad] for found in (outputs, own_outputs))
    if not roots or not wanted:
        return
    weights = [torch.randn_like(each) for each in roots]
    twice = op.name not in ONCE
    found = torch.autograd.grad(roots, wanted, weights, allow_unused=True, create_graph=twice)
    own_found = ow.autograd.grad(own_roots, own_wanted, ours(weights), allow_unused=True, create_graph=twice)
    check(found, own_found)
    both = [(a, b) for a, b in zip(found, own_found, strict=True) if requires(a) and requires(b)]
    if twice and both:
        weights = [torch.randn_like(a) for a, _ in both]
        found = torch.autograd.grad([a for a, _ in both], wanted, weights, allow_unused=True)
        check(found, ow.autograd.grad([b for _, b in both], own_wanted, ours(weights), allow_unused=True))


def requires(gradient: Any) -> bool:
    return gradient is not None and gradient.requires_grad


def check(found: Any, own: Any) -> None:
    """Gradients that are not there are zeros."""
    for theirs, mine in zip(found, own, strict=True):
        expected = 0 if theirs is None else values(theirs)
        actual = 0 if mine is None else values(mine)
        if theirs is not None and mine is not None:
            assert actual.shape == expected.shape
        np.testing.assert_allclose(actual, expected, **TOLERANCES)
