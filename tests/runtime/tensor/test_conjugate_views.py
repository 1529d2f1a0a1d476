"""`conj` gives a view: what is written to it, or to what it is a view of, is seen in the other."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import opweave
import pytest
from harness.catalog import described
from harness.oracle import Like, differences
from harness.outcome import Error, outcome
from harness.samples import arguments, calls_of, function_of, own

from codegen.schema import parse


class Pair(NamedTuple):
    first: opweave.Tensor
    second: opweave.Tensor


def numbers() -> Any:
    return opweave.tensor([1 + 2j, 3 - 1j, 0.5j])


def test_written_to_in_place() -> None:
    x = numbers()
    x.conj().mul_(1j)
    assert x.tolist() == [2 - 1j, -1 - 3j, 0.5 + 0j]
    y = x.conj()
    y[0] = 5 + 5j
    y[opweave.tensor([1])] = 2j
    assert x.tolist() == [5 - 5j, -2j, 0.5 + 0j]
    y.copy_(opweave.tensor([1j, 2j, 3j]))
    assert x.tolist() == [-1j, -2j, -3j]
    x.zero_()
    assert y.tolist() == [0, 0, 0]


def test_in_a_tuple_with_names() -> None:
    pair = Pair(numbers().conj(), numbers())
    assert opweave.cat(pair).tolist() == [1 - 2j, 3 + 1j, -0.5j, 1 + 2j, 3 - 1j, 0.5j]


def test_beside_its_own_memory() -> None:
    x = numbers()
    x.conj().mul_(x)
    assert x.tolist() == [5, 10, 0.25]
    x = numbers()
    x.conj().add_(x.conj())
    assert x.tolist() == [2 + 4j, 6 - 2j, 1j]


def test_written_to_as_out() -> None:
    result = opweave.zeros(3, dtype=opweave.complex64)
    opweave.add(numbers(), 1, out=result.conj())
    assert result.tolist() == [2 - 2j, 4 + 1j, 1 - 0.5j]


def test_memory_stays_where_an_operator_fails() -> None:
    x = numbers()
    with pytest.raises(RuntimeError):
        x.conj().add_(opweave.ones(2))
    assert x.tolist() == numbers().tolist()


def test_which_results_are_views() -> None:
    y = numbers().conj()
    views = (y, y[0], y[1:], y.view(3, 1).t(), y.detach(), y.data, y.expand(2, 3), *y.split(1), *y.unbind())
    assert all(each.is_conj() for each in views)
    copies = (y.clone(), y.contiguous().clone(), y + 1, y.to(opweave.complex128), y.resolve_conj(), y.conj(), y.real)
    assert not any(each.is_conj() for each in copies)
    assert y.unsqueeze_(0).is_conj()
    assert y.shape == (1, 3)
    real = opweave.ones(2)
    assert real.conj() is real


def test_values() -> None:
    y = numbers().conj()
    assert repr(y) == "tensor([1.-2.0000j, 3.+1.0000j, 0.-0.5000j])"
    assert (y.tolist(), y[0].item(), y.sum().item()) == ([1 - 2j, 3 + 1j, -0.5j], 1 - 2j, 4 - 1.5j)
    assert (y.real.tolist(), y.imag.tolist()) == ([1, 3, 0], [-2, 1, -0.5])
    assert opweave.dot(y, y.conj()).item() == opweave.vdot(y.conj(), y.conj()).item() == 15.25
    assert (y.view(1, 3) @ y.conj()).item() == 15.25
    assert copy.deepcopy(y).tolist() == pickle.loads(pickle.dumps(y)).tolist() == y.tolist()
    assert opweave.cat([y, y.conj()]).tolist() == [*y.tolist(), *y.conj().tolist()]


def test_what_needs_the_elements_in_memory_is_refused() -> None:
    y = numbers().conj()
    with pytest.raises(RuntimeError, match="has conjugate bit set"):
        y.numpy()
    with pytest.raises(BufferError, match="conjugate bit"):
        y.__dlpack__()
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated tensors"):
        opweave.view_as_real(y)
    with pytest.raises(RuntimeError, match=r"imag cannot be assigned to: .* it is a copy"):
        y.imag = 1
    y.real = 7
    assert y.real.tolist() == [7, 7, 7]
    assert y.numpy(force=True).tolist() == y.tolist()


def test_memory_that_is_exchanged() -> None:
    x = numbers()
    x.data = numbers().conj()
    assert x.is_conj()
    assert x.tolist() == numbers().conj().tolist()


def test_gradients() -> None:
    x = numbers().requires_grad_()
    v = x * 1
    v.conj().mul_(3j)
    (v * opweave.tensor([1, 2j, 3])).sum().abs().backward()
    w = numbers().requires_grad_()
    ((w * -3j) * opweave.tensor([1, 2j, 3])).sum().abs().backward()
    assert opweave.allclose(x.grad, w.grad)
    x.grad = None
    v = x * 1
    y = v.conj()
    v.mul_(2)
    (y * 1j).sum().abs().backward()
    w.grad = None
    (w.conj() * 2j).sum().abs().backward()
    assert opweave.allclose(x.grad, w.grad)


# ---- every operator -----------------------------------------------------------------------------------------

LIKE = Like(rtol=1e-5, atol=1e-6, strides=False, grad=False)
UNDETERMINED = ("empty", "eig", "svd", "qr", "lstsq", "dropout")
"""Parts of names whose results depend on memory, on chance, or are determined up to a phase."""
OF_VIEWS = ("is_conj", "detach")
"""What differs for a view, and for conjugates."""


def lazy(value: Any) -> Any:
    """The same values, of complex tensors as conjugates of what is in memory."""
    if isinstance(value, list):
        return [lazy(each) for each in value]
    return value.conj().resolve_conj().conj() if isinstance(value, opweave.Tensor) else value


def called(function: Any, values: list[Any], change: Any, library: Any) -> Any:
    return function(*[change(own(each, library)) for each in values])


@pytest.mark.parametrize("operator", described(), ids=lambda operator: operator["name"])
def test_operator(operator: dict[str, Any]) -> None:
    schema, name = operator["schema"], operator["name"]
    draws = parse(schema).argument("generator") is not None
    if draws or name in OF_VIEWS or any(word in name for word in UNDETERMINED):
        return
    for kind, path in calls_of(operator):
        function = function_of(kind, path, opweave)
        for given in arguments(schema, (("complex64", "complex64"), ("complex64", "float32"))):
            values = given[0] if "varargs" in operator["tags"] else given
            if any(np.ndim(each) > 2 for each in values):
                continue
            want = outcome(partial(called, function, values, lambda each: each), opweave)
            got = outcome(partial(called, function, values, lazy), opweave)
            refused = isinstance(got, Error) and "unresolved conjugated tensors" in got.text
            assert refused or not differences(got, want, LIKE), f"{path}: {got}, of tensors in memory {want}"
