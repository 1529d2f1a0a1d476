"""Arguments that act while a call reads them: they resize, exchange or free tensors beside them, raise, call back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import opweave

LONG = 10_000


class RaisedError(Exception):
    """Raised by the arguments themselves."""


class Actor:
    """Stands for a number or a short list, and acts when it is asked for it."""

    def __init__(self, random: Random, stage: list[Any]) -> None:
        self.stage = stage
        self.value = random.choice((0, 1, 1, 2, -1, 2**40))
        self.action = random.choice((shrink, grow, exchange, empty, collect, call_back, turn, follow, stop))
        self.random = random

    def act(self) -> int:
        tensors = [each for each in self.stage if isinstance(each, opweave.Tensor)]
        if tensors:
            self.action(self.random.choice(tensors), self.stage)
        return self.value

    def __index__(self) -> int:
        return self.act()

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.act())

    def __complex__(self) -> complex:
        return complex(self.act())

    def __bool__(self) -> bool:
        return bool(self.act())

    def __len__(self) -> int:
        return min(abs(self.act()), 3)

    def __iter__(self) -> Iterator[Any]:
        yield from (self, self.act())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index > 2:
            raise IndexError(index)
        return self.act()

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        return np.full(2, self.act(), np.float64)

    def __eq__(self, other: object) -> bool:
        return bool(self.act())

    def __hash__(self) -> int:
        return hash(self.act())

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.act()
        return arguments[0] if arguments else None

    def __repr__(self) -> str:
        return f"Actor({self.action.__name__}, {self.value})"


def shrink(tensor: Any, stage: list[Any]) -> None:
    tensor.resize_(0)


def grow(tensor: Any, stage: list[Any]) -> None:
    tensor.resize_(70, 3)


def exchange(tensor: Any, stage: list[Any]) -> None:
    tensor.data = opweave.zeros(1, dtype=tensor.dtype)


def empty(tensor: Any, stage: list[Any]) -> None:
    for each in stage:
        if isinstance(each, list):
            each.clear()
    stage.clear()


def collect(tensor: Any, stage: list[Any]) -> None:
    gc.collect()


def call_back(tensor: Any, stage: list[Any]) -> None:
    (tensor + 1).sum()


def turn(tensor: Any, stage: list[Any]) -> None:
    tensor.unsqueeze_(0).t_()


def follow(tensor: Any, stage: list[Any]) -> None:
    tensor.detach_().requires_grad_(tensor.is_floating_point())


def stop(tensor: Any, stage: list[Any]) -> None:
    raise RaisedError("an argument refuses")


class Long:
    """A sequence without a length that ends after a limit, so that a call which reads on ends as well."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, index: int) -> Any:
        if index >= LONG:
            raise IndexError(index)
        return self.value

    def __repr__(self) -> str:
        return f"Long({self.value!r})"
