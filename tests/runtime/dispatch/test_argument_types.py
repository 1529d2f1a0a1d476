"""Arguments of operators that are written in Python: values of other types are refused before the body sees them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest

X = opweave.arange(6.0).reshape(2, 3)
W = opweave.ones(2, requires_grad=True)


def same(left: opweave.Tensor, right: opweave.Tensor) -> bool:
    return np.array_equal(left.numpy(), right.numpy())


REFUSED: tuple[tuple[Callable[[], Any], str], ...] = (
    (lambda: opweave.softmax(X, None), "argument 'dim' must be int, not NoneType"),
    (lambda: opweave.sort(X, True), "argument 'dim' (position 2) must be int, not bool"),
    (lambda: opweave.sort(X, 0, 1), "argument 'descending' (position 3) must be bool, not int"),
    (lambda: opweave.meshgrid(X[0], indexing=3), "argument 'indexing' must be str, not int"),
    (lambda: opweave.flip(X, "a"), "argument 'dims' (position 2) must be tuple of ints, not str"),
    (lambda: opweave.flip(X, [1.0]), "tuple of ints, but found element of type float at pos 0"),
    (lambda: opweave.roll(X, (1, "a")), 'at pos 2 with error "type must be tuple of ints,but got str"'),
    (lambda: opweave.cat(X), "argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"),
    (lambda: opweave.cat([X, 1]), "expected Tensor as element 1 in argument 0, but got int"),
    (lambda: opweave.einsum("ij,ij->i", [X, 3]), "expected Tensor as element 1 in argument 1, but got int"),
    (lambda: opweave.einsum(None, X), "argument 'equation' (position 1) must be str, not NoneType"),
    (lambda: opweave.cdist(X, X, "a"), "argument 'p' (position 3) must be float, not str"),
    (lambda: opweave.renorm(X, [2], 0, 1), "argument 'p' (position 2) must be Number, not list"),
    (lambda: opweave.diff(X, prepend=3), "argument 'prepend' (position 4) must be Tensor, not int"),
    (lambda: opweave.rand_like(X, generator=3), "argument 'generator' must be opweave.Generator, not int"),
    (lambda: opweave.full_like(X, opweave.ones(2)), "argument 'fill_value' (position 2) must be Number, not Tensor"),
    (lambda: opweave.histogram(X, 3, range=(0, "a")), "tuple of floats, but found element of type str at pos 1"),
    (lambda: opweave.isin(1, 2), "expected a Tensor among the arguments"),
    (lambda: opweave.broadcast_to(X, X), "argument 'size' (position 2) must be tuple of ints, not Tensor"),
    (lambda: opweave.pdist(X, np.ones(3)), "argument 'p' (position 2) must be float, not numpy.ndarray"),
    (lambda: opweave.atan2(2.5, None), "argument 'input' (position 1) must be Tensor, not float"),
    (lambda: opweave.block_diag((0, 1)), "expected Tensor as element 0 in argument 0, but got tuple"),
    (lambda: opweave.ones("x", out=W), "argument 'size' (position 1) must be tuple of ints, not str"),
    (lambda: opweave.max(X, keepdim=True), "invalid combination of arguments: 'keepdim' without 'dim'"),
    (lambda: X.where(), "missing 2 required positional arguments"),
    (lambda: X.relu_(inplace=True), "unexpected keyword argument 'inplace'"),
    (lambda: opweave.abs(self=X), "unexpected keyword argument 'self'"),
    (lambda: X.__add__(X, other=X), "takes two operands, but got 3 arguments"),
)


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert message in str(raised.value)


class Own(opweave.Tensor):
    pass


def test_what_stands_for_an_int() -> None:
    for one in (np.int64(1), opweave.tensor(1)):
        assert same(opweave.sort(X, one)[0], opweave.sort(X, 1)[0])
        assert same(opweave.flip(X, [one]), opweave.flip(X, [1]))
    for call in (
        lambda: opweave.diag(X, np.uint64(2**63)),
        lambda: opweave.argsort(X, 2**70),
        lambda: opweave.topk(X, 2**70),
        lambda: opweave.cat([X], 2**70),
    ):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            call()


def test_what_stands_for_a_number() -> None:
    want = opweave.cdist(X, X, 1.0)
    for one in (1, True, np.float32(1), opweave.tensor(1)):
        assert same(opweave.cdist(X, X, one), want)


def test_further_types() -> None:
    assert opweave.amax(X, None).item() == 5
    assert opweave.var(X, keepdim=True).shape == (1, 1)
    assert same(X.__sub__(other=X), X - X)
    assert same(opweave.atleast_1d(X.as_subclass(Own)), X)
    assert opweave.norm(X, "fro").item() == pytest.approx(55**0.5)
    assert same(opweave.movedim(X, 0, 1), X.t())
    assert same(opweave.var(X, False), opweave.var(X, correction=0))
    assert same(opweave.repeat_interleave(X, 2, 0), X.repeat_interleave(opweave.tensor([2, 2]), 0))
    assert opweave.tensordot(X, X, ([0, 1], [0, 1])).item() == 55


def test_inplace_comes_after_the_arguments_of_the_schema() -> None:
    functional = opweave.nn.functional
    for inplace in (False, True):
        for given, named in (((inplace,), {}), ((), {"inplace": inplace})):
            x = X - 3
            assert (functional.relu(x, *given, **named) is x) is inplace
            assert (functional.hardtanh(x, -1, 1, *given, **named) is x) is inplace
    with pytest.raises(TypeError, match="takes 2 positional arguments but more were given"):
        functional.relu(X, True, inplace=True)


def test_classes_of_others_are_named_with_their_module() -> None:
    """That something must be a Tensor and not a Tensor would say nothing."""
    foreign = type("Tensor", (), {"__module__": "torch"})()
    refused: tuple[tuple[Callable[[], Any], str], ...] = (
        (lambda: opweave.add(X, foreign), "add(): argument 'other' (position 2) must be Tensor, not torch.Tensor"),
        (lambda: opweave.exp(foreign), "exp(): argument 'input' (position 1) must be Tensor, not torch.Tensor"),
        (lambda: opweave.cat([X, foreign]), "expected Tensor as element 1 in argument 0, but got torch.Tensor"),
        (lambda: opweave.add(X, X, out=foreign), "add(): argument 'out' must be Tensor, not torch.Tensor"),
        (lambda: opweave.zeros(2, dtype=foreign), "argument 'dtype' must be opweave.dtype, not torch.Tensor"),
        (lambda: opweave.ones(2, requires_grad=True).sum().backward([foreign]), "but got torch.Tensor"),
        (lambda: opweave.Tensor.data.__set__(X, foreign), "Variable data has to be a tensor, but got torch.Tensor"),
        (lambda: opweave.exp(np.ones(2)), "must be Tensor, not numpy.ndarray"),
        (lambda: opweave.exp(opweave.float32), "must be Tensor, not dtype"),
    )
    for call, message in refused:
        with pytest.raises(TypeError, match=re.escape(message)):
            call()


def test_arguments_have_the_names_of_each_overload_of_torch() -> None:
    x = opweave.arange(4)
    for got in (
        x.split(split_size=2), opweave.split(tensor=x, split_size_or_sections=[2, 2]), x.tensor_split(sections=2),
        opweave.tensor_split(x, indices=(2,)), opweave.tensor_split(x, tensor_indices_or_sections=opweave.tensor(2)),
    ):  # fmt: skip
        assert [part.tolist() for part in got] == [[0, 1], [2, 3]]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sections'"):
        opweave.add(x, sections=2)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "logsumexp", "var", "cumsum", "softmax"])
def test_dimensions_of_numpy_in_gradients(name: str) -> None:
    grads = []
    for dim in (1, np.int64(1)):
        x = opweave.arange(6.0).reshape(2, 3).requires_grad_()
        getattr(x, name)(dim).square().sum().backward()
        grads.append(x.grad)
    assert opweave.equal(*grads)


def test_layer_norm_takes_an_integer_of_numpy() -> None:
    assert opweave.nn.LayerNorm(np.int64(3)).normalized_shape == (3,)
