"""Optimizers: what steps leave alone, hooks, closures, groups, copies."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest
from opweave import optim
from opweave.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from .side_by_side import assert_close, parameters, plain, take_steps

NAMES = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")


def one_parameter(gradient: float | None = 1.0) -> Any:
    parameter = opweave.tensor([1.0, 2.0]).requires_grad_()
    if gradient is not None:
        parameter.grad = opweave.full((2,), gradient)
    return parameter


@pytest.mark.parametrize("name", [*NAMES, "LBFGS"])
def test_nothing_without_gradients(name: str) -> None:
    parameter = one_parameter(None)
    optimizer = getattr(opweave.optim, name)([parameter])
    optimizer.step(lambda: 0.0)
    assert parameter.tolist() == [1.0, 2.0]
    saved = optimizer.state_dict()["state"]
    assert {"LBFGS": ["func_evals", "n_iter"], "Adagrad": ["step", "sum"]}.get(name, []) == list(saved.get(0, ()))


@pytest.mark.parametrize("name", NAMES)
def test_gradients_stay(name: str) -> None:
    parameter = one_parameter(3.0)
    gradient = parameter.grad
    options = {"weight_decay": 0.5, "maximize": True} | ({"momentum": 0.9} if name in ("SGD", "RMSprop") else {})
    optimizer = getattr(opweave.optim, name)([parameter], **options)
    for _ in range(3):
        optimizer.step()
    assert parameter.grad is gradient
    assert gradient.tolist() == [3.0, 3.0]


def test_memory_is_kept() -> None:
    """Steps write in place, to every layout."""
    base = opweave.arange(6.0).view(2, 3)
    parameter = base.t().requires_grad_()
    parameter.grad = opweave.ones(3, 2)
    index = parameter.data_ptr()
    opweave.optim.Adam([parameter], lr=0.5).step()
    assert parameter.data_ptr() == index
    np.testing.assert_allclose(base.detach().numpy(), np.arange(6.0).reshape(2, 3) - 0.5, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_follow_float32(name: str, dtype: str) -> None:
    """Steps of half formats are computed in float32: they stay next to those of float32 parameters."""
    options = {} if name == "SGD" else {"eps": 0.01}
    results = []
    for kind in (dtype, "float32"):
        given = parameters(opweave, kind)
        optimizer = getattr(opweave.optim, name)(given, lr=0.01, weight_decay=0.01, **options)
        take_steps(opweave, optimizer, kind, range(5))
        results.append(plain([each.detach().float() for each in given]))
    assert_close(results[0], results[1], 0.03)


# ---- closures and hooks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_closure_comes_first(name: str) -> None:
    parameter = one_parameter(None)
    seen = []

    def closure() -> Any:
        seen.append(parameter.tolist())
        parameter.grad = opweave.ones(2)
        return opweave.tensor(7.0)

    assert getattr(opweave.optim, name)([parameter], lr=0.5).step(closure).item() == 7.0
    assert seen == [[1.0, 2.0]]
    assert parameter.tolist() != [1.0, 2.0]


def test_step_hooks() -> None:
    parameter = one_parameter()
    optimizer = opweave.optim.SGD([parameter], lr=1.0)
    calls: list[tuple[str, Any]] = []

    def before(given: Any, args: Any, kwargs: Any) -> None:
        assert given is optimizer
        assert args == (optimizer,)
        calls.append(("before", parameter.tolist()))

    def after(given: Any, args: Any, kwargs: Any) -> None:
        calls.append(("after", parameter.tolist()))

    first, second = optimizer.register_step_pre_hook(before), optimizer.register_step_post_hook(after)
    optimizer.step()
    assert calls == [("before", [1.0, 2.0]), ("after", [0.0, 1.0])]
    first.remove()
    second.remove()
    optimizer.step()
    assert len(calls) == 2


def test_step_hooks_of_all_optimizers() -> None:
    x = opweave.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    calls: list[str] = []
    own = optimizer.register_step_pre_hook(lambda *_: calls.append("own"))
    handles = [
        register_optimizer_step_pre_hook(lambda *_: calls.append("before")),
        register_optimizer_step_post_hook(lambda given, *_: calls.append(type(given).__name__)),
    ]
    optimizer.step()
    assert calls == ["before", "own", "SGD"]
    for handle in (own, *handles):
        handle.remove()
    optimizer.step()
    assert calls == ["before", "own", "SGD"]


def test_step_hooks_change_arguments() -> None:
    parameter = one_parameter()
    optimizer = opweave.optim.SGD([parameter])
    handle = optimizer.register_step_pre_hook(lambda given, args, kwargs: (args, {"closure": lambda: 5}))
    assert optimizer.step() == 5
    handle.remove()
    optimizer.register_step_pre_hook(lambda given, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_hooks_run_once_for_a_step_that_calls_that_of_its_base() -> None:
    class Twice(opweave.optim.SGD):
        def step(self, closure: Callable[[], Any] | None = None) -> Any:
            super().step(closure)
            return super().step(closure)

    parameter = one_parameter()
    optimizer = Twice([parameter], lr=0.25)
    calls: list[int] = []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    optimizer.step()
    assert calls == [1]
    assert parameter.tolist() == [0.5, 1.5]


def test_state_dict_hooks() -> None:
    optimizer = opweave.optim.SGD([one_parameter()], lr=1.0)
    calls: list[str] = []

    def note(text: str) -> Callable[..., None]:
        return lambda *_: calls.append(text)

    optimizer.register_state_dict_pre_hook(note("second"))
    optimizer.register_state_dict_pre_hook(note("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda given, results: {**results, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda given, saved: {**saved, "param_groups": saved["other"]})
    optimizer.register_load_state_dict_post_hook(note("loaded"))
    saved = optimizer.state_dict()
    assert calls == ["first", "second"]
    assert saved["more"] == 1
    groups = [{**saved["param_groups"][0], "lr": 0.125}]
    optimizer.load_state_dict({"state": {}, "param_groups": [], "other": groups})
    assert calls[2:] == ["loaded"]
    assert optimizer.param_groups[0]["lr"] == 0.125


# ---- gradients, groups, copies ------------------------------------------------------------------------------


def test_zero_grad() -> None:
    parameter, other = one_parameter(), one_parameter(None)
    optimizer = opweave.optim.SGD([parameter, other])
    gradient = parameter.grad
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad is gradient
    assert gradient.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert parameter.grad is None
    assert other.grad is None


def test_duplicates_are_warned_of() -> None:
    parameter = one_parameter()
    with pytest.warns(UserWarning, match="optimizer contains a parameter group with duplicate parameters"):
        opweave.optim.SGD([parameter, parameter])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opweave.optim.SGD([parameter, one_parameter()])


def test_ways_of_computing() -> None:
    plain_one, fused, captured = one_parameter(), one_parameter(), one_parameter()
    opweave.optim.AdamW([plain_one]).step()
    opweave.optim.AdamW([fused], fused=True).step()
    assert opweave.equal(plain_one, fused)
    optimizer = opweave.optim.Adam([captured], capturable=True)
    with pytest.raises(AssertionError, match="`capturable=True` is for devices"):
        optimizer.step()
    for other, message in (("foreach", "cannot be `True` together"), ("differentiable", "does not support")):
        with pytest.raises(RuntimeError, match=message):
            opweave.optim.Adam([one_parameter()], fused=True, **{other: True})
        optimizer = opweave.optim.Adam([one_parameter()])
        with pytest.raises(RuntimeError, match=message):
            optimizer.add_param_group({"params": one_parameter(), "fused": True, other: True})
        assert len(optimizer.param_groups) == 1


def test_state_dict_shares_and_load_copies() -> None:
    parameter = one_parameter()
    optimizer = opweave.optim.Adam([parameter])
    optimizer.step()
    saved = optimizer.state_dict()
    assert saved["state"][0]["exp_avg"] is optimizer.state[parameter]["exp_avg"]
    other = opweave.optim.Adam([one_parameter()])
    other.load_state_dict(saved)
    kept = plain(saved)
    other.step()
    assert_close(plain(saved), kept, 0.0)


def test_loaded_tensors_have_the_dtype_of_their_parameters() -> None:
    optimizer = opweave.optim.Adam([one_parameter()])
    optimizer.step()
    wide = one_parameter(None).detach().double().requires_grad_()
    other = opweave.optim.Adam([wide])
    other.load_state_dict(optimizer.state_dict())
    state = other.state_dict()["state"][0]
    assert (state["exp_avg"].dtype, state["step"].dtype) == (opweave.float64, opweave.float32)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("name", [*NAMES, "LBFGS"])
def test_copies_go_on_alike(name: str, duplicate: Callable[[Any], Any]) -> None:
    def step(optimizer: Any, gradient: float) -> list[float]:
        for parameter in optimizer.param_groups[0]["params"]:
            parameter.grad = opweave.full((2,), gradient)
        optimizer.step(lambda: 0.0)
        values: list[float] = optimizer.param_groups[0]["params"][0].tolist()
        return values

    optimizer = getattr(opweave.optim, name)([one_parameter()], lr=0.1)
    step(optimizer, 2.0)
    other = duplicate(optimizer)
    assert other.param_groups[0]["params"][0] is not optimizer.param_groups[0]["params"][0]
    assert step(other, 1.0) == step(optimizer, 1.0)


def test_step_is_counted_beyond_half_formats() -> None:
    """The count is no half number even where that is the default dtype."""
    opweave.set_default_dtype(opweave.float16)
    try:
        optimizer = opweave.optim.Adam([one_parameter()])
        optimizer.step()
    finally:
        opweave.set_default_dtype(opweave.float32)
    assert optimizer.state_dict()["state"][0]["step"].dtype is opweave.float32


def test_an_optimizer_around_another_needs_no_init_of_the_base() -> None:
    class Around(opweave.optim.Optimizer):
        def __init__(self, inner: Any) -> None:
            self.inner, self.param_groups, self.defaults = inner, inner.param_groups, inner.defaults

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    parameter, calls = one_parameter(), []
    optimizer = Around(opweave.optim.SGD([parameter], lr=0.5))
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    optimizer.step()
    assert (parameter.tolist(), calls) == ([0.5, 1.5], [1])
    assert list(optimizer._optimizer_step_post_hooks.values())  # torch's name, which other libraries read


def test_counts_of_steps_are_numbers_and_tensors_in_files() -> None:
    parameter = one_parameter()
    optimizer = opweave.optim.NAdam([parameter])
    parameter.grad = opweave.ones(2)
    for _ in range(3):
        optimizer.step()
    state, saved = optimizer.state[parameter], optimizer.state_dict()["state"][0]
    assert (state["step"], state["step"].item()) == (3.0, 3.0)
    assert isinstance(state["step"], float)
    assert saved["step"].tolist() == 3.0
    assert saved["mu_product"].dtype is opweave.float32
    assert saved["mu_product"].item() == state["mu_product"]
    other = opweave.optim.NAdam([one_parameter()])
    other.load_state_dict(
        {
            "state": {0: {**saved, "step": opweave.tensor(7.0, dtype=opweave.float64)}},
            "param_groups": optimizer.state_dict()["param_groups"],
        }
    )
    (loaded,) = other.state.values()
    assert loaded["step"] == 7.0
    assert other.state_dict()["state"][0]["step"].dtype is opweave.float64
    copied = pickle.loads(pickle.dumps(state["step"]))
    assert (copied, copied.dtype) == (3.0, opweave.float32)


@pytest.mark.parametrize("options", [{}, {"maximize": True}, {"momentum": 0.5}, {"weight_decay": 0.5}], ids=str)
def test_sgd_along_sparse_gradients(options: dict[str, Any]) -> None:
    sparse, dense = (opweave.ones(4, 2, requires_grad=True) for _ in range(2))
    sparse.grad = opweave.sparse_coo_tensor(opweave.tensor([[0, 3, 0]]), opweave.ones(3, 2), (4, 2))
    dense.grad = sparse.grad.to_dense()
    for parameter in (sparse, dense):
        optimizer = opweave.optim.SGD([parameter], lr=0.25, **options)
        optimizer.step()
        optimizer.step()
    assert sparse.tolist() == dense.tolist()
