"""`grad_dtype`: the dtype to which gradients of leaves are converted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from derivatives import check_outcome


def _leaf(lib: Any, dtype: Any = ...) -> Any:
    x = lib.ones(2, requires_grad=True)
    if dtype is not ...:
        x.grad_dtype = dtype
    return x


def _backward(lib: Any, dtype: Any, times: int = 1) -> Any:
    x = _leaf(lib, dtype)
    for _ in range(times):
        (x * 2).sum().backward()
    return x.grad, x.grad_dtype


def _assigned(lib: Any, dtype: Any, of: Any) -> Any:
    x = _leaf(lib, dtype)
    x.grad = lib.ones(2, dtype=of)
    return x.grad


def _set(x: Any, dtype: Any) -> Any:
    x.grad_dtype = dtype
    return x.grad_dtype, x.grad


def _asked_later(lib: Any) -> Any:
    x = lib.ones(2)
    x.grad_dtype = lib.float64
    return x.requires_grad_().grad_dtype, x.sum().backward(), x.grad


def _with_gradient(lib: Any, dtype: Any) -> Any:
    x = _leaf(lib)
    x.sum().backward()
    return _set(x, dtype)


def _seen(lib: Any) -> Any:
    x, seen = _leaf(lib, lib.float64), []
    x.register_hook(lambda grad: seen.append(grad))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    (x * 2).sum().backward()
    return seen


def _with_data(lib: Any) -> Any:
    x, plain = _leaf(lib, lib.float64), _leaf(lib)
    x.data = plain.data = lib.ones(3, dtype=lib.float16)
    (x * 2 + plain).sum().backward()
    return x.grad_dtype, x.grad, plain.grad_dtype, plain.grad


CASES: dict[str, Callable[[Any], Any]] = {
    "own": lambda lib: (lib.ones(2).grad_dtype, _leaf(lib).grad_dtype, lib.ones(2, dtype=lib.int32).grad_dtype),
    "another": lambda lib: _backward(lib, lib.float64),
    "added": lambda lib: _backward(lib, lib.float64, 2),
    "narrower": lambda lib: _backward(lib, lib.bfloat16, 2),
    "any": lambda lib: _backward(lib, None),
    "given": lambda lib: lib.autograd.grad((_leaf(lib, lib.float64) * 2).sum(), _leaf(lib), allow_unused=True),
    "grad": lambda lib: (lambda x: lib.autograd.grad((x * 2).sum(), x))(_leaf(lib, lib.float64)),
    "assigned": lambda lib: _assigned(lib, lib.float64, lib.float64),
    "assigned to any": lambda lib: _assigned(lib, None, lib.float64),
    "of a copy": lambda lib: (copy.deepcopy(_leaf(lib, lib.float64)).grad_dtype, _leaf(lib, None).detach().grad_dtype),
    "before it is asked for": _asked_later,
    "hooks": _seen,
    "data": _with_data,
    "the gradient that is there": lambda lib: _with_gradient(lib, lib.float32),
    "any beside a gradient": lambda lib: _with_gradient(lib, None),
}


@pytest.mark.oracle
def test_gradients_are_converted() -> None:
    for name, case in CASES.items():
        check_outcome(case, name)


def test_what_is_refused() -> None:
    for call, message in (
        (lambda: (_leaf(ow) * 2).grad_dtype, "can only be accessed on leaf tensors"),
        (lambda: _set(_leaf(ow) * 2, None), "can only be set on leaf tensors"),
        (lambda: _set(_leaf(ow), 3), "must be an opweave.dtype or None, but got int"),
        (lambda: _set(_leaf(ow), ow.int32), "must be a floating or complex dtype"),
        (lambda: _with_gradient(ow, ow.float64), "already a gradient with dtype 'float'"),
        (lambda: _assigned(ow, ow.float64, ow.float32), "with dtype 'float' to a tensor with grad_dtype 'double'"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
