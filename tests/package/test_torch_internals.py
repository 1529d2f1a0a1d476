"""What libraries take from torch's own modules, which is computed here as there."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest


def test_facts_of_shapes_and_dtypes() -> None:
    prims = importlib.import_module("opweave._prims_common")
    assert prims.make_contiguous_strides_for((2, 3, 4)) == (12, 4, 1)
    assert prims.make_contiguous_strides_for((2, 3, 4), row_major=False) == (12, 1, 3)
    assert prims.make_contiguous_strides_for((2, 0, 4)) == (4, 4, 1)
    x = opweave.ones(2, 3, 4, 5)
    assert prims.suggest_memory_format(x) is opweave.contiguous_format
    assert prims.suggest_memory_format(x.to(memory_format=opweave.channels_last)) is opweave.channels_last
    assert prims.canonicalize_dims(3, (-1, 0)) == (2, 0)
    assert prims.canonicalize_dim(0, -1) == 0
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-3, 2\], but got 3\)"):
        prims.canonicalize_dim(3, 3)
    assert [prims.is_integer_dtype(each) for each in (opweave.int8, opweave.bool, opweave.float32)] == [1, 0, 0]


def test_an_alert_of_what_is_not_deterministic() -> None:
    alert = importlib.import_module("opweave._prims_common").alert_not_deterministic
    alert("own")
    try:
        opweave.use_deterministic_algorithms(True)
        with pytest.raises(RuntimeError, match="own does not have a deterministic implementation"):
            alert("own")
        opweave.use_deterministic_algorithms(True, warn_only=True)
        with pytest.warns(UserWarning, match="own does not have"):
            alert("own")
    finally:
        opweave.use_deterministic_algorithms(False)


def test_tensors_as_one() -> None:
    utils = importlib.import_module("opweave._utils")
    parts = [opweave.arange(6.0).view(2, 3), opweave.ones(2)]
    flat = utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 1, 1]
    assert [each.tolist() for each in utils._unflatten_dense_tensors(flat, parts)] == [each.tolist() for each in parts]
    assert utils._element_size(opweave.float64) == 8
    assert utils._get_device_module("cpu") is opweave.cpu


def test_loops_of_functions() -> None:
    x = opweave.tensor(1.0, requires_grad=True)
    value, steps = opweave.while_loop(lambda v, n: v < 50, lambda v, n: (v * 3 * x, n + 1), (x * 1, opweave.tensor(0)))
    assert (value.item(), steps.item()) == (81, 4)
    value.backward()
    assert x.grad.item() == 81 * 5
    with pytest.raises(RuntimeError, match="body_fn should return 1 values, but it returned 2"):
        opweave.while_loop(lambda v: True, lambda v: (v, v), (x,))
    with pytest.raises(RuntimeError, match="Expect carried_inputs to be a tuple or a list"):
        opweave.while_loop(lambda v: True, lambda v: v, x)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scans(count: int, reverse: bool) -> None:
    scan = importlib.import_module("opweave._higher_order_ops.associative_scan").associative_scan
    rng = np.random.default_rng(count)
    numbers = rng.normal(size=(2, count, 3))
    x = opweave.tensor(numbers, requires_grad=True)
    found = scan(opweave.add, x, 1, reverse=reverse)
    expected = np.flip(np.flip(numbers, 1).cumsum(1), 1) if reverse else numbers.cumsum(1)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)
    weights = opweave.tensor(rng.normal(size=(2, count, 3)))
    (found * weights).sum().backward()
    back = np.flip(np.flip(weights.numpy(), 1).cumsum(1), 1)
    np.testing.assert_allclose(x.grad.numpy(), weights.numpy().cumsum(1) if reverse else back, rtol=1e-12)
    # A recurrence h = a h + b, which does not commute.
    a, b = opweave.tensor(rng.normal(size=(count,))), opweave.tensor(rng.normal(size=(count,)))
    pair = scan(lambda l, r: {"a": l["a"] * r["a"], "b": r["a"] * l["b"] + r["b"]}, {"a": a, "b": b}, -1)  # noqa: E741
    state, states = 0.0, []
    for factor, term in zip(a.tolist(), b.tolist(), strict=True):
        state = factor * state + term
        states.append(state)
    np.testing.assert_allclose(pair["b"].numpy(), states, rtol=1e-10)


def test_refusals_of_scans() -> None:
    scan = importlib.import_module("opweave._higher_order_ops.associative_scan").associative_scan
    with pytest.raises(ValueError, match="same scan dimension"):
        scan(opweave.add, [opweave.ones(2), opweave.ones(3)], 0)
    with pytest.raises(ValueError, match="xs must be tensors"):
        scan(opweave.add, [], 0)
    with pytest.raises(ValueError, match="must be a callable"):
        scan(3, opweave.ones(2), 0)


def test_batches_by_class() -> None:
    collate = importlib.import_module("opweave.utils.data._utils.collate")

    class Own(tuple):
        __slots__ = ()

    def together(batch: Any, *, collate_fn_map: Any) -> Any:
        assert Own in collate_fn_map
        return len(batch)

    known = {Own: together, **collate.default_collate_fn_map}
    batch = [{"x": Own((1, 2)), "y": [opweave.ones(2), 1.5]}] * 3
    found = collate.collate(batch, collate_fn_map=known)
    assert (found["x"], found["y"][0].shape, found["y"][1].dtype) == (3, (3, 2), opweave.float64)
    with pytest.raises(TypeError, match=r"found <class 'object'>"):
        collate.collate([object()], collate_fn_map=known)
    try:
        collate.default_collate_fn_map[Own] = together
        assert collate.default_collate([Own((1, 2))] * 2) == 2
    finally:
        del collate.default_collate_fn_map[Own]
    assert [each.tolist() for each in collate.default_collate([Own((1, 2))] * 2)] == [[1, 1], [2, 2]]
    assert collate.default_collate([np.float32(2)]).dtype is opweave.float32


def test_contexts_that_are_decorators() -> None:
    base = importlib.import_module("opweave.utils._contextlib")._DecoratorContextManager
    log: list[str] = []

    class Logged(base):  # type: ignore[misc, valid-type]
        def __enter__(self) -> None:
            log.append("in")

        def __exit__(self, *exception: object) -> None:
            log.append("out")

    @Logged()  # type: ignore[untyped-decorator]
    def function(x: int) -> int:
        log.append("at")
        return x + 1

    assert (function(2), log) == (3, ["in", "at", "out"])
    log.clear()

    @Logged()  # type: ignore[untyped-decorator]
    def steps() -> Iterator[Any]:
        try:
            got = yield 1
            log.append(got)
        except KeyError:
            yield "caught"
        return "end"

    each = steps()
    assert next(each) == 1
    with pytest.raises(StopIteration, match="end"):
        each.send("sent")
    assert log == ["in", "out", "in", "sent", "out"]
    each = steps()
    next(each)
    assert each.throw(KeyError()) == "caught"


def test_steps_that_optimizers_are_written_with() -> None:
    from opweave.optim import optimizer

    class Own(optimizer.Optimizer):
        def __init__(self, params: Any, lr: Any = optimizer.required) -> None:  # type: ignore[attr-defined]
            super().__init__(params, {"lr": lr, "differentiable": False})

        @optimizer._use_grad_for_differentiable
        def step(self) -> bool:
            for each in self.param_groups[0]["params"]:
                each.add_(each.grad, alpha=-self.param_groups[0]["lr"])
            return opweave.is_grad_enabled()

    p = opweave.ones(2, requires_grad=True)
    p.sum().backward()
    assert Own([p], 0.5).step() is False
    assert p.tolist() == [0.5, 0.5]
    assert repr(optimizer.required) == "<required parameter>"
    values = [opweave.ones(2, dtype=opweave.complex64)]
    optimizer._view_as_real(values)
    assert values[0].shape == (2, 2)


def test_tensors_of_modules_are_swapped() -> None:
    accessor = importlib.import_module("opweave.nn.utils._named_member_accessor")
    module = opweave.nn.Linear(2, 3)
    weight, other = module.weight, opweave.ones(3, 2)
    assert accessor.swap_tensor(module, "weight", other) is weight
    assert module.weight is other
    assert accessor.swap_tensor(module, "weight", weight) is other
    with pytest.raises(AttributeError, match="Linear has no attribute `nothing`"):
        accessor.swap_tensor(module, "nothing", other)
    absent = accessor.swap_tensor(module, "nothing", other, allow_missing=True)
    assert accessor.swap_tensor(module, "nothing", absent, allow_missing=True) is other
    assert not hasattr(module, "nothing")


def test_pieces_of_containers() -> None:
    from opweave.utils import _pytree

    assert _pytree._dict_unflatten(*_pytree._dict_flatten({"a": 1})) == {"a": 1}
    assert _pytree.is_structseq_instance(time.gmtime())
    assert not _pytree.is_structseq_instance((1, 2))
    assert _pytree._list_flatten_with_keys([5])[0][0][1] == 5


def test_assertions_of_tensors() -> None:
    opweave._assert_async(opweave.tensor(3))
    with pytest.raises(RuntimeError, match="text"):
        opweave._assert_async(opweave.tensor([0]), "text")
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        opweave._assert_async(opweave.ones(2))
    with pytest.raises(IndexError, match="text"):
        opweave._check_tensor_all_with(IndexError, opweave.tensor([True, False]), lambda: "text")
