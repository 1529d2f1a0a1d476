"""Conditions on elements divide a function into graphs: programs take the ways that calls have taken before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check, copied, facts
from opweave.compiler._kernels import Kernel

X = opweave.linspace(-1, 2, 12).reshape(3, 4)
POSITIVE, NEGATIVE = opweave.ones(4), opweave.full((4,), -2.0)


def two_ways(x: Any) -> Any:
    y = (x * 2 + 1).tanh()
    if y.sum() > 0:
        return (y * 3 + 1) * POSITIVE
    return y * 5 - opweave.tensor([1.0, 2.0, 3.0, 4.0]) + NEGATIVE


def three_conditions(x: Any) -> Any:
    y, z = x + 1, x.exp()
    if (y > 0).all():
        y = y * z + 2
    if opweave.equal(x, -x) or (z * 2 - 1).max() < 3:
        return y - z * 2, z
    return y


def in_place(x: Any) -> Any:
    y = x * 2
    y += 1
    if y.mean() > 0:
        y[0].mul_(2).add_(1)
    y *= 3
    return y.t(), y + 1


def halved(x: Any) -> Any:
    while x.abs().sum() > 10:
        x = x * 0.5 - 0.125
    return x + 1


def autocast_and_modes(x: Any) -> Any:
    with opweave.no_grad():
        quiet = x * 2 + 1
        is_large = bool(quiet.sum() > 0)
    return quiet * x if is_large else quiet - x * 3


FUNCTIONS = [two_ways, three_conditions, in_place, halved, autocast_and_modes]


def _agree(function: Callable[..., Any], compiled: Callable[..., Any], *args: Any) -> None:
    expected, given = copied(args), copied(args)
    assert facts(compiled(*given)) == facts(function(*expected))
    assert facts(given) == facts(expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("needs_grad", [False, True])
def test_bits(function: Callable[..., Any], needs_grad: bool) -> None:
    compiled: Any = opweave.compile(function)
    for _ in range(2):
        for scale in (1.0, -1.0, 4.0, 0.0):
            _agree(function, compiled, (X * scale).requires_grad_(needs_grad))
    assert len(compiled.compiled.entries) == 1, compiled.compiled.refusals


def test_gradients() -> None:
    def gradient(function: Callable[..., Any], scale: float) -> Any:
        x = (X * scale).requires_grad_()
        function(x).sum().backward()
        return x.grad

    compiled = opweave.compile(two_ways)
    for scale in (1.0, -1.0, 1.0, -1.0):
        assert gradient(compiled, scale).equal(gradient(two_ways, scale))


def test_parts_are_merged() -> None:
    compiled: Any = opweave.compile(two_ways)
    for scale in (1.0, -1.0):
        compiled(X * scale)
    steps = compiled.compiled.entries[0].program.steps
    names = [each.operators if isinstance(each, Kernel) else each.op.name for each in steps]
    assert [len(each) for each in names if not isinstance(each, str)] == [3, 3, 3]
    text = opweave.compiler.explain(compiled)
    assert "graph break: item() reads an element, to go on by it (" in text
    assert "test_conditions.py, line " in text
    assert "only for" not in text  # the condition is a tensor without sizes


def test_known_ways_do_not_run_the_function() -> None:
    compiled: Any = opweave.compile(two_ways)
    want = [facts(compiled(X * scale)) for scale in (1.0, -1.0)]
    compiled.compiled.function = None
    assert [facts(compiled(X * scale)) for scale in (1.0, -1.0)] == want


def test_many_ways() -> None:
    def counted(x: Any) -> Any:
        while x.sum() > 0:
            x = x - 0.1
        return x * 2

    compiled: Any = opweave.compile(counted)
    for _ in range(2):
        for scale in range(20):
            _agree(counted, compiled, X * scale)
    assert not compiled.compiled.entries
    assert "more than 8 ways" in str(compiled.compiled.refusals[-1])

    def long(x: Any) -> Any:
        for _ in range(60):
            x = x * 2 if x.sum() > 0 else x
        return x

    assert "more than 40 times" in str(check(long, X, is_recorded=False).refusals[-1])


def test_what_cannot_be_done_twice() -> None:
    def written(x: Any) -> Any:
        x.t().add_(1)
        return x * 2 if x.sum() > 0 else x

    def drawn(x: Any) -> Any:
        y = opweave.nn.functional.dropout(x)
        return y * 2 if y.sum() > 0 else y

    for function in (written, drawn):
        known = check(function, X, is_recorded=False)
        assert not known.entries
        assert "after numbers were drawn" in str(known.refusals[-1])

    def written_later(x: Any) -> Any:
        if x.sum() > 0:
            return x.add_(1) * 2 + opweave.rand(4)
        return x.mul_(2)

    compiled: Any = opweave.compile(written_later)
    for scale in (1.0, -1.0, 1.0, -1.0):
        opweave.manual_seed(0)
        given = X * scale
        result = compiled(given)
        opweave.manual_seed(0)
        expected = X * scale
        assert facts((written_later(expected), expected)) == facts((result, given))
    assert len(compiled.compiled.entries) == 1


def test_a_way_that_cannot_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Any) -> Any:
        if not x.isfinite().all():
            print("no number")
            raise ValueError("no number")
        return x * 2 + 1

    compiled: Any = opweave.compile(function)
    for _ in range(4):
        _agree(function, compiled, X)
        with pytest.raises(ValueError, match="no number"):
            compiled(X / 0)
    assert capsys.readouterr().out == "no number\n" * 4
    assert len(compiled.compiled.entries) == 1


def test_threads_that_take_different_ways() -> None:
    compiled: Any = opweave.compile(three_conditions)
    given = [X * scale for scale in (1.0, -1.0, 4.0, 0.0)]
    want = [facts(three_conditions(each)) for each in given]
    results: list[bool] = []

    def call(place: int) -> None:
        results.extend(facts(compiled(given[place])) == want[place] for _ in range(20))

    threads = [threading.Thread(target=call, args=(place,)) for place in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == [True] * 80


def of_numbers(x: Any) -> Any:
    y = (x * 2 + 1).tanh()
    scale, place = y.sum().item(), int(y.argmax())
    return (y * scale + 1) / (place + 1), float(y.max()), place


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.25, 0.5, -1.0, 0.25, 0.5],
        [0.0, -0.0, float("nan"), 0.0, -0.0, float("nan"), float("inf")],
        [0.01 * number for number in range(20)],
    ],
)
def test_numbers_that_are_read(values: list[float]) -> None:
    def function(x: Any) -> Any:
        return of_numbers(x), repr(x[0].item()), x[1].item() is True

    compiled: Any = opweave.compile(function)
    for value in values:
        x = opweave.full((4,), value)
        for _ in range(2):
            expected, found = function(x), compiled(x)
            assert repr(found[0][1:]) == repr(expected[0][1:])
            assert facts(found[0][0]) == facts(expected[0][0])
            assert found[1:] == expected[1:]
    if len(set(map(repr, values))) > 8:
        assert "elements that are read take more than 8 ways" in opweave.compiler.explain(compiled)


def test_numbers_of_other_types_are_others() -> None:
    compiled: Any = opweave.compile(lambda x: (x * 2 + 1, x.item()))
    for x in (opweave.tensor(1), opweave.tensor(True), opweave.tensor(1.0), opweave.tensor(1 + 0j)):
        for _ in range(2):
            assert type(compiled(x)[1]) is type(x.item())


def test_a_number_that_ends_a_loop() -> None:
    def function(x: Any, count: Any) -> Any:
        for number in range(int(count)):
            x = x * 2 + number
        return x + 1

    compiled: Any = opweave.compile(function)
    for count in (1, 3, 1, 0, 3):
        _agree(function, compiled, X, opweave.tensor(count))
    assert len(compiled.compiled.entries) == 1
    assert "item() reads an element, to go on by it (" in opweave.compiler.explain(compiled)
    for size in (2, 5):
        _agree(function, compiled, opweave.ones(size, 4), opweave.tensor(3))
    assert len(compiled.compiled.entries) == 1


CHECKED: list[tuple[Callable[..., Any], Any, Any]] = [
    (opweave.linalg.inv, opweave.eye(2), opweave.zeros(2, 2)),
    (
        opweave.linalg.cholesky,
        opweave.eye(2).repeat(2, 1, 1),
        opweave.stack([opweave.eye(2), -opweave.eye(2)]),
    ),
    (lambda x: opweave.nn.functional.embedding(x, opweave.ones(3, 2)) + 1, opweave.tensor([2]), opweave.tensor([5])),
    (lambda x: opweave.nn.functional.nll_loss(X, x), opweave.tensor([0, 1, 2]), opweave.tensor([0, 4, 2])),
]


@pytest.mark.parametrize("place", range(len(CHECKED)))
def test_checks_that_fail_say_what_the_function_says(place: int) -> None:
    function, good, bad = CHECKED[place]
    compiled: Any = opweave.compile(function)
    with pytest.raises(RuntimeError if place < 2 else IndexError) as expected:
        function(bad)
    for _ in range(12):
        _agree(function, compiled, good)
        with pytest.raises(expected.type) as found:
            compiled(bad)
        assert str(found.value) == str(expected.value)
    assert len(compiled.compiled.entries) == 1
    assert not compiled.compiled.refusals
