"""What a node has kept for its formulas, as users read it: `grad_fn._saved_self`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest

CASES: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "mul": (lambda x: x * x, {"_saved_self": [1.0, 2.0], "_saved_other": [1.0, 2.0]}),
    "one factor": (lambda x: x * ow.tensor([3.0, 4.0]), {"_saved_self": None, "_saved_other": [3.0, 4.0]}),
    "sigmoid": (lambda x: x.mul(0).sigmoid(), {"_saved_result": [0.5, 0.5]}),
    "sum": (lambda x: x.sum(0), {"_saved_dim": 0, "_saved_keepdim": False, "_saved_self_sym_sizes": (2,)}),
    "add": (lambda x: x.add(x, alpha=2), {"_saved_alpha": 2}),
    "max": (lambda x: x.max(0)[0], {"_saved_indices": 1, "_saved_dim": 0}),
    "transpose": (lambda x: x.view(1, 2).transpose(0, 1), {"_saved_dim0": 0, "_saved_dim1": 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_can_be_read(case: str) -> None:
    call, expected = CASES[case]
    node = call(ow.tensor([1.0, 2.0], requires_grad=True)).grad_fn
    for name, value in expected.items():
        result = getattr(node, name)
        assert (result.tolist() if isinstance(result, ow.Tensor) else result) == value
        assert name in dir(node)


def test_it_is_the_tensor_itself_or_has_its_history() -> None:
    x = ow.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    assert (x * x).grad_fn._saved_self is x
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    with pytest.raises(AttributeError, match="has no attribute '_saved_nothing'"):
        _ = y.grad_fn._saved_nothing
    with pytest.raises(AttributeError, match="has no attribute 'result'"):
        _ = y.grad_fn.result


def test_it_is_gone_after_backward() -> None:
    y = ow.tensor([1.0, 2.0], requires_grad=True).exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = y.grad_fn._saved_result


INDICES: dict[str, Any] = {"a list": [1, 2], "a tensor": ow.tensor([1, 2]), "a mask": ow.tensor([False, True, True])}


@pytest.mark.parametrize("case", INDICES)
def test_indices_are_kept_for_one_pass(case: str) -> None:
    b = ow.ones(3, requires_grad=True)
    read = b[INDICES[case]].sum()
    c = ow.zeros(3)
    c[INDICES[case]] = b[1:]
    for result in (read, c.sum()):
        result.backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            result.backward()
    assert b.grad.tolist() == [0.0, 2.0, 2.0]


def test_an_index_that_is_changed_afterwards_counts_as_it_was() -> None:
    index, b = [0, 1], ow.ones(3, requires_grad=True)
    read = b[index]
    index[0] = 2
    read.sum().backward()
    assert b.grad.tolist() == [1.0, 1.0, 0.0]


def test_distinct_values_have_a_history_without_a_derivative() -> None:
    x = ow.tensor([[1.0, 2.0, 2.0]], requires_grad=True)
    values, inverse, counts = ow.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1.0, 2.0]
    assert values.requires_grad
    assert not inverse.requires_grad
    assert counts.tolist() == [1, 2]
    for result in (values, ow.unique(x, dim=1), ow.unique_consecutive(x)):
        with pytest.raises(RuntimeError, match="is not implemented"):
            result.sum().backward()
