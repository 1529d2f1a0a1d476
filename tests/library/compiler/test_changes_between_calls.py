"""What a function reads besides its arguments, where it changes between calls, and objects that results are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from enum import IntEnum
from types import ModuleType
from typing import Any

import opweave
import pytest

ONES = opweave.ones(2)


@pytest.fixture
def module() -> Iterator[Any]:
    found = sys.modules["changing"] = ModuleType("changing")
    yield found
    del sys.modules["changing"]


def _values(function: Callable[..., Any], *changes: Callable[[], Any]) -> list[float]:
    """The first elements of results: of two calls, and of one after each change."""
    compiled: Any = opweave.compile(function)
    values = [compiled(ONES)[0].item() for _ in range(2)]
    for change in changes:
        change()
        values.append(compiled(ONES)[0].item())
    return values


def test_attributes_of_modules_that_other_code_reads(module: Any) -> None:
    module.first, module.second = 1.0, 2.0
    helpers: Any = ModuleType("helpers")
    exec("import changing\ndef scaled(x): return x * changing.second", vars(helpers))
    assert _values(lambda x: helpers.scaled(x) * module.first, lambda: setattr(module, "second", 5.0)) == [2, 2, 5]


def test_attributes_that_are_not_there_yet(module: Any) -> None:
    class Base:
        pass

    class Derived(Base):
        pass

    one = Derived()
    Base.scale = 2.0  # type: ignore[attr-defined]
    assert _values(lambda x: x * getattr(module, "scale", 1.0), lambda: setattr(module, "scale", 3.0)) == [1, 1, 3]
    assert _values(lambda x: x * getattr(Base, "more", 1.0), lambda: setattr(Base, "more", 3.0)) == [1, 1, 3]
    assert _values(lambda x: x * one.scale, lambda: setattr(Derived, "scale", 4.0)) == [2, 2, 4]  # type: ignore[attr-defined]


def test_objects_of_classes() -> None:
    class Settings:
        scale = 1.0

    owners: Any = type("Owner", (), {"settings": Settings(), "chosen": {1}})
    one = owners()
    assert _values(lambda x: x * one.settings.scale, lambda: setattr(one.settings, "scale", 3.0)) == [1, 1, 3]
    assert _values(lambda x: x * len(one.chosen), lambda: one.chosen.add(2)) == [1, 1, 2]
    assert _values(lambda x: x * isinstance(one, Settings), lambda: setattr(one, "__class__", Settings)) == [0, 0, 1]


def test_attributes_of_numbers_and_texts() -> None:
    class Text(str):
        pass

    class Level(IntEnum):
        LOW = 1
        HIGH = 2

    text: Any = Text("ab")
    text.scale = 1.0
    assert _values(lambda x: x * text.scale, lambda: setattr(text, "scale", 3.0)) == [1, 1, 3]
    other: Any = Text("ab")
    other.scale = 5.0
    scaled = opweave.compile(lambda x, text: x * text.scale)
    assert [scaled(ONES, each)[0].item() for each in (text, text, other)] == [3, 3, 5]
    levels: Any = opweave.compile(lambda x, level: x * level)
    assert [levels(ONES, each)[0].item() for each in (Level.LOW, Level.LOW, Level.HIGH)] == [1, 1, 2]
    assert len(levels.compiled.entries) == 2


def test_attributes_of_tensors() -> None:
    scaled: Any = opweave.compile(lambda x: x * getattr(x, "scale", 1.0))
    given: Any = opweave.ones(2)
    values = [scaled(given)[0].item()]
    for given.scale in (3.0, 4.0):
        values.append(scaled(given)[0].item())
    assert values == [1, 3, 4]
    assert scaled(opweave.ones(2))[0] == 1

    weight: Any = opweave.ones(2)
    weight.scale = 1.0
    assert _values(lambda x: x * weight * weight.scale, lambda: setattr(weight, "scale", 3.0)) == [1, 1, 3]


def test_attributes_that_are_set() -> None:
    def of_argument(x: Any) -> Any:
        x.mark = 3
        return x * 2

    def of_result(x: Any) -> Any:
        y = x * 2
        y.mark = 3
        return y

    for function, marked in ((of_argument, lambda x, _: x), (of_result, lambda _, y: y)):
        compiled: Any = opweave.compile(function)
        for _ in range(3):
            x = opweave.ones(2)
            assert marked(x, compiled(x)).mark == 3  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("fact", "before", "after"),
    [
        (lambda x: x._version, lambda: opweave.ones(2), lambda: opweave.ones(2).zero_()),
        (lambda x: x.storage_offset(), lambda: opweave.ones(4)[1:3], lambda: opweave.ones(4)[2:]),
        (lambda x: x._base is None, lambda: opweave.ones(2), lambda: opweave.ones(2)[:]),
        (lambda x: x._is_view(), lambda: opweave.ones(2), lambda: opweave.ones(2)[:]),
        (
            lambda x: x.is_leaf,
            lambda: opweave.ones(2, requires_grad=True),
            lambda: opweave.ones(2, requires_grad=True) * 1,
        ),
        (lambda x: x.is_inference(), lambda: opweave.ones(2), opweave.inference_mode()(lambda: opweave.ones(2))),
    ],
)
def test_facts_of_tensors(fact: Callable[[Any], Any], before: Callable[[], Any], after: Callable[[], Any]) -> None:
    compiled: Any = opweave.compile(lambda x: (x * 2, fact(x)))
    for make in (before, before, after):
        x = make()
        assert compiled(x)[1] == fact(x)
    assert fact(before()) != fact(after())


def test_settings() -> None:
    compiled: Any = opweave.compile(
        lambda x: x * opweave.are_deterministic_algorithms_enabled() + len(opweave.get_float32_matmul_precision())
    )
    assert compiled(ONES)[0] == 7
    opweave.use_deterministic_algorithms(True)
    opweave.set_float32_matmul_precision("high")
    try:
        assert compiled(ONES)[0] == 5
    finally:
        opweave.use_deterministic_algorithms(False)
        opweave.set_float32_matmul_precision("highest")


def test_containers_that_are_given_or_shared() -> None:
    known: list[Any] = [1]
    given: dict[str, Any] = {"x": ONES}
    compiled: Any = opweave.compile(lambda given, x: {"in": given, "sum": given["x"] + x, "known": known})
    fresh: Any = opweave.compile(lambda x: ([x + 1, []], {}))

    def shared(x: Any) -> Any:
        made = [x + 1]
        return made, made

    pair: Any = opweave.compile(shared)
    for _ in range(3):
        result = compiled(given, ONES)
        assert result["in"] is given
        assert result["known"] is known
        one, other = pair(ONES)
        assert one is other
        assert fresh(ONES)[0][0][0] == 2
    assert fresh.compiled.entries


def test_containers_whose_tensors_are_replaced() -> None:
    def of_dictionary(given: dict[str, Any]) -> Any:
        given["y"] = given["x"] + 1
        return given["y"] * 2

    def of_list(given: list[Any], x: Any) -> Any:
        given[0] = x
        return x * 2

    first: Any = opweave.compile(of_dictionary)
    second: Any = opweave.compile(of_list)
    for number in range(3):
        given = {"x": ONES * number, "y": ONES}
        assert first(given)[0] == 2 * (number + 1)
        assert given["y"][0] == number + 1
        listed, x = [ONES], ONES * number
        assert second(listed, x)[0] == 2 * number
        assert listed[0] is x


def test_inference_mode_within() -> None:
    inner: Any = opweave.compile(opweave.inference_mode()(lambda x: (x * 2 + 1).exp()))
    outer: Any = opweave.compile(opweave.inference_mode(False)(lambda x: (x * 2 + 1).exp()))
    for _ in range(3):
        assert inner(ONES).is_inference()
        with opweave.inference_mode():
            assert not outer(ONES).is_inference()
    assert inner.compiled.entries
    assert outer.compiled.entries
