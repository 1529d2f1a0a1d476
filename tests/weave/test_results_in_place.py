"""Operators of several results whose results go to tensors that exist: other ones, or the inputs themselves."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest

pytest.importorskip("opweave")

import opweave as ow

ENTRIES = """
- func: damped(Tensor x, Tensor y) -> (Tensor rest, Tensor greater)
  doc: Two results of one loop.
  elementwise: {value: {rest: tanh(x) * exp(y), greater: x > y}, dtype: {greater: bool}}
  dtypes: floating
  derivatives: none

- func: crossed(Tensor x, Tensor y) -> (Tensor first, Tensor second)
  doc: Two results, each of the other input.
  elementwise: {value: {first: y + 1, second: x - 1}}
  dtypes: numeric
  derivatives: none
"""


@pytest.fixture(scope="module")
def ops() -> ModuleType:
    return ow.weave_text(ENTRIES)


def inputs() -> tuple[ow.Tensor, ow.Tensor]:
    ow.manual_seed(1)
    return ow.randn(5, 7), ow.randn(5, 7)


def test_other_tensors_take_shape_dtype_and_order(ops: ModuleType) -> None:
    x, y = inputs()
    wanted = ops.damped(x, y)
    empty = ow.empty(0), ow.empty(0, dtype=ow.bool)
    found = ops.damped(x, y, out=empty)
    assert found.rest is empty[0]
    assert found.greater is empty[1]
    assert ow.equal(found.rest, wanted.rest)
    assert ow.equal(found.greater, wanted.greater)
    turned, whole = ow.empty(7, 5).t(), ow.empty(5, 7, dtype=ow.float64)
    ops.damped(x, y, out=[turned, whole])
    assert ow.equal(turned, wanted.rest)
    assert turned.stride() == (1, 5)
    assert ow.equal(whole, wanted.greater.double())
    with pytest.warns(UserWarning, match="was resized"):
        ops.damped(x, y, out=(ow.empty(3), ow.empty(0)))


def test_halves_and_numbers(ops: ModuleType) -> None:
    x, y = (each.half() for each in inputs())
    out = ow.empty(0, dtype=ow.float16), ow.empty(0, dtype=ow.bool)
    assert ow.equal(ops.damped(x, y, out=out).rest, ops.damped(x, y).rest)


def test_inputs_may_be_results(ops: ModuleType) -> None:
    x, y = inputs()
    first, second = x.clone(), y.clone()
    ops.crossed(first, second, out=(first, second))
    assert ow.equal(first, y + 1)
    assert ow.equal(second, x - 1)
    whole = ow.arange(6), ow.arange(6) * 2
    version = whole[0]._version
    ops.crossed(*whole, out=(whole[1], whole[0]))
    assert whole[1].tolist() == [1, 3, 5, 7, 9, 11]
    assert whole[0].tolist() == [-1, 0, 1, 2, 3, 4]
    assert whole[0]._version == version + 1


def test_of_results_in_one_place_the_last_stays(ops: ModuleType) -> None:
    x, y = inputs()
    place = ow.empty(5, 7)
    ops.crossed(x, y, out=(place, place.view(5, 7)))
    assert ow.equal(place, x - 1)


def test_what_is_refused(ops: ModuleType) -> None:
    x, y = inputs()
    flags = ow.empty(0, dtype=ow.bool)
    for out in ((flags,), (x, flags, y), flags, (flags, 3), 3):
        with pytest.raises(TypeError, match="argument 'out' must be tuple of Tensors"):
            ops.damped(x, y, out=out)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Bool"):
        ops.damped(x, y, out=(flags, flags))
    row = ow.randn(36)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        ops.damped(row[:-1], row[:-1], out=(row[1:], flags))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        ops.damped(x, y, out=(ow.empty(1).expand(5, 7), flags))
    first = x[0]
    with pytest.raises(RuntimeError, match="output with shape"):
        ops.damped(x, first, out=(ow.empty(0), first))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        ops.damped(x.requires_grad_(), y, out=(ow.empty(0), flags))


def test_devices(ops: ModuleType) -> None:
    x, y = inputs()
    targets = ow.empty(0, device="meta"), ow.empty(0, dtype=ow.bool, device="meta")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ops.damped(x.to("meta"), y.to("meta"), out=targets)
    assert [tuple(each.shape) for each in found] == [(5, 7), (5, 7)]
    for out in (targets, (ow.empty(0), targets[1])):
        with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
            ops.damped(x, y, out=out)
