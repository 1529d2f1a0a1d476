"""Docstrings are true: examples print what they say; operators take what their docstrings say, and nothing else.

A docstring's example is a call that works. Each argument in turn is replaced by a value of every kind that the
docstring names for it, which must be accepted, and by values of other kinds, which must be refused.
"""

from __future__ import annotations

import ast
import doctest
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module, resources
from operator import attrgetter
from typing import Any

import opweave
import pytest

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
        found = re.findall(r"^ +(\w+) \((.*?)\)[:.]", section, re.MULTILINE | re.DOTALL)
        return {name: tuple(re.split(r"\s+or\s+", re.sub(r",\s+optional$", "", kinds))) for name, kinds in found}

    @property
    def dtype_errors(self) -> list[str]:
        """What the docstring says is raised for dtypes that it does not name."""
        found = re.search(r"^ +(.*): a dtype is not ", self.doc, re.MULTILINE)
        return found[1].split(" or ") if found else []

    @property
    def optional(self) -> frozenset[str]:
        return frozenset(re.findall(r"^ +(\w+) \([^)]*,\s+optional\)", self.doc, re.MULTILINE))

    @property
    def example(self) -> list[str]:
        """The statements of the example."""
        return [each.source for each in doctest.DocTestParser().get_examples(self.doc)]


def documented() -> Iterator[Documented]:
    records = json.loads((resources.files("opweave") / "operators.json").read_text())
    for record in records:
        paths = (*record["functions"], *record["submodules"], *(f"Tensor.{name}" for name in record["methods"]))
        if paths:
            doc = attrgetter(paths[0])(opweave).__doc__
            yield Documented(record["name"], paths[0], doc, frozenset(record["dtypes"]))


OPERATORS = {each.name: each for each in documented()}


@pytest.mark.parametrize("name", OPERATORS)
def test_example_prints_what_it_says(name: str) -> None:
    example = doctest.DocTestParser().get_doctest(OPERATORS[name].doc, {"opweave": opweave}, name, None, 0)
    assert example.examples, "no example: add its inputs to docs/examples.txt, run `python tools/record_examples.py`"
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)


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
    for place, (name, value) in enumerate(zip(names, values, strict=False)):
        if takes_separate(operator.arguments[name]) and not isinstance(value, (tuple, list)):
            values[place:] = [tuple(values[place:])]
            separate = name
            break
    keywords = {keyword.arg: value_of(keyword.value, scope) for keyword in node.keywords if keyword.arg}
    positional = dict(zip(names, values, strict=False))
    return Call(attrgetter(operator.function)(opweave), {**positional, **keywords}, len(positional), separate)


def value_of(node: ast.expr, scope: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<example>", "eval"), scope)


def takes_separate(kinds: tuple[str, ...]) -> bool:
    return any(kind.startswith("separate") for kind in kinds)


# ---- kinds of arguments -------------------------------------------------------------------------------------

CONSTANTS: Mapping[str, Any] = {
    "number": 2, "int": 1, "float": 0.5, "bool": True, "None": None, "dtype": opweave.float64,
    "layout": opweave.strided, "device": opweave.device("cpu"), "memory format": opweave.contiguous_format,
    "Generator": opweave.Generator(), "tuple of ints": (1,), "tuple of floats": (0.0, 1.0), "tuple of numbers": (1, 2),
    "separate ints": (1, 1), "str": "cpu",
}  # fmt: skip
"""A value of each kind; the example's own value goes first."""
CLASSES: Mapping[str, tuple[type, ...]] = {
    "Tensor": (opweave.Tensor,), "number": (int, float), "int": (int,), "float": (float,), "bool": (bool,),
    "str": (str,), "tuple of ints": (tuple, list), "separate ints": (tuple,), "list of Tensors": (tuple, list),
    "separate Tensors": (tuple,),
}  # fmt: skip


def value_for(kind: str, call: Call, name: str) -> Any:
    kind = re.sub(r"^Tensor of \w+$", "Tensor", kind)
    own = call.values.get(name)
    if isinstance(own, CLASSES.get(kind, ())) and not (kind in ("int", "number") and isinstance(own, bool)):
        return own
    if name == "out":
        return empty_like(call())
    if kind == "Tensor":
        return opweave.tensor(own) if isinstance(own, (bool, int, float)) else opweave.tensor(1)
    if kind in ("list of Tensors", "separate Tensors"):
        return tuple(opweave.tensor([1.0, 2.0]) for _ in range(2))
    return CONSTANTS[kind]


def empty_like(result: Any) -> Any:
    if isinstance(result, opweave.Tensor):
        return opweave.empty(0, dtype=result.dtype)
    return tuple(map(empty_like, result))


def outcome(call: Call) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("name", OPERATORS)
def test_documented_kinds_are_accepted(name: str) -> None:
    operator = OPERATORS[name]
    calls = calls_of(operator)
    call = calls[-1]
    # Of arguments that exclude each other those that may be left out are left out.
    values = {name: value for name, value in call.values.items() if name not in operator.optional}
    required = replace(call, values=values, positional=min(call.positional, len(values)))
    for argument, kinds in operator.arguments.items():
        for kind in kinds:
            if kind != "others, as described":
                value = value_for(kind, call, argument)
                given = [each.given(argument, value, kind.startswith("separate")) for each in (*calls, required)]
                errors = [outcome(each) for each in given]
                is_refused = all(isinstance(error, TypeError) for error in errors)
                assert not is_refused, f"{argument} is documented as {kind}, but: {errors[0]}"


@pytest.mark.parametrize("name", OPERATORS)
def test_other_kinds_are_refused(name: str) -> None:
    operator = OPERATORS[name]
    call = calls_of(operator)[-1]
    for argument, kinds in operator.arguments.items():
        # Python's functions ask for the truth of these, which every object has.
        if argument in ("inplace", "requires_grad") or "others, as described" in kinds:
            continue
        error = outcome(call.given(argument, object()))
        assert isinstance(error, TypeError), f"{argument} is documented as {kinds}, but an object gives {error!r}"
        if not {"number", "int", "float", "bool", "separate ints"} & set(kinds):
            error = outcome(call.given(argument, 2))
            assert error is not None, f"{argument} is documented as {kinds}, but a number is accepted"


# ---- dtypes -------------------------------------------------------------------------------------------------


def in_dtype(value: Any, dtype: opweave.dtype) -> Any:
    """The value with its tensors in another dtype."""
    if type(value) in (tuple, list):
        return type(value)(in_dtype(each, dtype) for each in value)
    return value.to(dtype) if isinstance(value, opweave.Tensor) else value


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("name", [name for name, each in OPERATORS.items() if each.dtype_errors])
def test_dtypes_that_are_not_documented_are_refused(name: str) -> None:
    operator = OPERATORS[name]
    call = calls_of(operator)[-1]
    for dtype in ("bool", "int64", "float32", "bfloat16", "complex64"):
        if dtype not in operator.dtypes:
            values = {name: in_dtype(value, getattr(opweave, dtype)) for name, value in call.values.items()}
            if not any(isinstance(value, opweave.Tensor) for value in values.values()):
                values["dtype"] = getattr(opweave, dtype)  # of a new tensor
            error = outcome(replace(call, values=values))
            assert type(error).__name__ in operator.dtype_errors, f"{dtype}: {error!r}"


# ---- what is written by hand --------------------------------------------------------------------------------


def test_everything_public_has_a_docstring() -> None:
    spaces = {"opweave": opweave, "Tensor": opweave.Tensor}
    missing = [
        f"{space}.{name}"
        for space, value in spaces.items()
        for name in dir(value)
        if not name.startswith("_")
        and (space == "Tensor" or callable(getattr(value, name)))
        and not isinstance(getattr(value, name), type)
        and not getattr(value, name).__doc__
    ]
    assert missing == []


RAISES = [
    ("x.size(5)", IndexError), ("x.size('a')", TypeError), ("x.stride(-3)", IndexError),
    ("x.clone(memory_format=opweave.channels_last)", RuntimeError),
    ("x.contiguous(memory_format=opweave.channels_last)", RuntimeError),
    ("x.to('cuda')", RuntimeError), ("x.to(3.5)", TypeError), ("x.type('none')", ValueError),
    ("x.item()", RuntimeError),
    ("x.copy_('a')", TypeError), ("x.copy_(opweave.ones(4))", RuntimeError),
    ("opweave.ones(1).expand(3).copy_(opweave.ones(3))", RuntimeError),
    ("x.fill_(opweave.ones(2))", RuntimeError), ("x.fill_('a')", TypeError),
    ("x.map_(opweave.ones(5), max)", RuntimeError), ("x.resize_(-1)", RuntimeError), ("x.set_(3)", TypeError),
    ("x.set_(opweave.ones(2, dtype=opweave.int32))", RuntimeError), ("x[0].mT", RuntimeError),
    ("x[0].mH", RuntimeError), ("x[0].H", RuntimeError), ("x.imag", RuntimeError), ("x.is_nonzero()", RuntimeError),
    ("x.is_same_size(3)", TypeError), ("x.as_subclass(int)", TypeError),
    ("x.index_put_((opweave.tensor([7]),), opweave.tensor(1.0))", IndexError),
    ("x.index_put_((opweave.tensor([0]),), opweave.tensor(1))", RuntimeError),
    ("x.index_put_((opweave.tensor([0]),), opweave.ones(7))", RuntimeError),
    ("opweave.tensor([[1], [1, 2]])", ValueError), ("opweave.tensor(['a'])", ValueError),
    ("opweave.tensor(2**64)", ValueError), ("opweave.tensor(object())", RuntimeError),
    ("opweave.scalar_tensor('a')", TypeError), ("opweave.numel(3)", TypeError), ("opweave.clone(3)", TypeError),
    ("opweave.promote_types(1, 2)", TypeError), ("opweave.asarray([1], copy=False)", ValueError),
    ("opweave.from_numpy([1])", TypeError), ("opweave.arange(2).to(opweave.bfloat16).numpy()", TypeError),
    ("opweave.ones(2, requires_grad=True).numpy()", RuntimeError), ("opweave.tril_indices(-1, 2)", RuntimeError),
    ("opweave.triu_indices(1.5, 2)", TypeError), ("opweave.Generator().set_state(3)", TypeError),
    ("opweave.Generator().set_state(opweave.ones(3, dtype=opweave.uint8))", RuntimeError),
    ("opweave.Generator().get_offset()", RuntimeError), ("opweave.nn.functional.dropout(x, 2)", ValueError),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "error"), RAISES)
def test_functions_written_by_hand_raise_what_they_say(expression: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(expression, {"opweave": opweave, "x": opweave.ones(2, 3)})
