"""What docstrings of operators say, and the calls in their examples, for the tests that hold them to it."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from operator import attrgetter
from typing import Any

import opweave

from .catalog import described

for name in ("fft", "linalg", "nn.functional", "optim.functional", "signal.windows", "special"):
    import_module(f"opweave.{name}")


@dataclass(frozen=True)
class Documented:
    """What operators.json says of an operator, and its docstring."""

    name: str
    function: str
    """Its path in the package; a method's begins with `Tensor`."""
    doc: str
    dtypes: frozenset[str]

    @property
    def arguments(self) -> dict[str, tuple[str, ...]]:
        """The kinds that the docstring names for each argument."""
        section = self.doc.partition("Args:\n")[2].partition("\n\n")[0]
        results = re.findall(r"^ +(\w+) \((.*?)\)[:.]", section, re.MULTILINE | re.DOTALL)
        return {name: tuple(re.split(r"\s+or\s+", re.sub(r",\s+optional$", "", kinds))) for name, kinds in results}

    @property
    def dtype_errors(self) -> list[str]:
        """What the docstring says is raised for dtypes that it does not name."""
        result = re.search(r"^ +(.*): a dtype is not ", self.doc, re.MULTILINE)
        return result[1].split(" or ") if result else []

    @property
    def optional(self) -> frozenset[str]:
        return frozenset(re.findall(r"^ +(\w+) \([^)]*,\s+optional\)", self.doc, re.MULTILINE))

    @property
    def example(self) -> list[str]:
        """The statements of the example."""
        return [each.source for each in doctest.DocTestParser().get_examples(self.doc)]


def documented() -> Iterator[Documented]:
    for record in described():
        paths = (*record["functions"], *record["submodules"], *(f"Tensor.{name}" for name in record["methods"]))
        if paths:
            doc = attrgetter(paths[0])(opweave).__doc__
            yield Documented(record["name"], paths[0], doc, frozenset(record["dtypes"]))


OPERATORS = {each.name: each for each in documented()}


# ---- calls --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call by the names of the docstring; the leading arguments are given by position."""

    function: Callable[..., Any]
    values: Mapping[str, Any]
    positional: int
    separate: str | None
    """The last positional argument, if its elements are given one by one."""

    def __call__(self) -> Any:
        values = [self._copy(value) for value in self.values.values()]
        first, named = values[: self.positional], dict(zip(self.values, values, strict=True))
        if self.separate is not None:
            first[-1:] = first[-1]
        return self.function(*first, **{name: named[name] for name in list(self.values)[self.positional :]})

    @staticmethod
    def _copy(value: Any) -> Any:
        """Calls in place leave the example's tensors as they are."""
        return value.clone() if isinstance(value, opweave.Tensor) else value

    def given(self, name: str, value: Any, separate: bool = False) -> Call:
        """The same call with another value of one argument."""
        values = {**self.values, name: value}
        positional = len(values) if separate and name not in self.values else self.positional
        return replace(self, values=values, positional=positional, separate=name if separate else None)


def calls_of(operator: Documented) -> list[Call]:
    """The calls of the operator in the statements of its example."""
    scope: dict[str, Any] = {"opweave": opweave}
    own = operator.function.rpartition(".")[2]
    calls = []
    for statement in operator.example:
        exec(statement, scope)
        for node in ast.walk(ast.parse(statement)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == own:
                calls.append(call_from(node, operator, scope))
    return calls


def call_from(node: ast.Call, operator: Documented, scope: dict[str, Any]) -> Call:
    values = [value_of(each, scope) for each in node.args]
    names = list(operator.arguments)
    if operator.function.startswith("Tensor."):
        assert isinstance(node.func, ast.Attribute)
        values.insert(0, value_of(node.func.value, scope))
        names.sort(key=lambda name: name != "input")
    separate = None
    for index, (name, value) in enumerate(zip(names, values, strict=False)):
        if takes_separate(operator.arguments[name]) and not isinstance(value, (tuple, list)):
            values[index:] = [tuple(values[index:])]
            separate = name
            break
    keywords = {keyword.arg: value_of(keyword.value, scope) for keyword in node.keywords if keyword.arg}
    positional = dict(zip(names, values, strict=False))
    return Call(attrgetter(operator.function)(opweave), {**positional, **keywords}, len(positional), separate)


def value_of(node: ast.expr, scope: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<example>", "eval"), scope)


def takes_separate(kinds: tuple[str, ...]) -> bool:
    return any(kind.startswith("separate") for kind in kinds)


def outcome(call: Call) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None
