"""Docstrings are true: examples print what they say; operators take what their docstrings say, and nothing else.

A docstring's example is a call that works. Each argument in turn is replaced by a value of every kind that the
docstring names for it, which must be accepted, and by values of other kinds, which must be refused.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import opweave
import pytest
from harness.documented import OPERATORS, Call, calls_of, outcome
from harness.documented_results import check_dtypes, check_shapes, claims, flat


@pytest.mark.parametrize("name", OPERATORS)
def test_example_prints_what_it_says(name: str) -> None:
    example = doctest.DocTestParser().get_doctest(OPERATORS[name].doc, {"opweave": opweave}, name, None, 0)
    assert example.examples, "no example: run `python tools/record_examples.py`"
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)


def test_every_argument_has_a_meaning() -> None:
    """Add what a name does not say to `args` of the entry."""
    sections = {name: each.doc.partition("Args:\n")[2].partition("\n\n")[0] for name, each in OPERATORS.items()}
    bare = {name: re.findall(r"^ {4}(\w+) \([^)]*\)\.$", text, re.MULTILINE) for name, text in sections.items()}
    assert {name: found for name, found in bare.items() if found} == {}


# ---- kinds of arguments -------------------------------------------------------------------------------------

CONSTANTS: Mapping[str, Any] = {
    "number": 2, "int": 1, "float": 0.5, "bool": True, "None": None, "dtype": opweave.float64,
    "layout": opweave.strided, "device": opweave.device("cpu"), "memory format": opweave.contiguous_format,
    "Generator": opweave.Generator(), "tuple of ints": (1,), "tuple of floats": (0.0, 1.0), "tuple of numbers": (1, 2),
    "separate ints": (1, 1), "str": "cpu", "tuple of strs": ("N",),
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


def call_in_dtype(call: Call, dtype: opweave.dtype) -> Call:
    return replace(call, values={name: in_dtype(value, dtype) for name, value in call.values.items()})


VALUES = ("True or False.", "int.", "Number of Python.")
"""What is said of results that are no tensors."""


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("name", [name for name, each in OPERATORS.items() if each.dtype_errors])
def test_dtypes_that_are_not_documented_are_refused(name: str) -> None:
    operator = OPERATORS[name]
    call = calls_of(operator)[-1]
    for dtype in ("bool", "int64", "float32", "bfloat16", "complex64"):
        if dtype not in operator.dtypes:
            changed = call_in_dtype(call, getattr(opweave, dtype))
            if not any(isinstance(value, opweave.Tensor) for value in call.values.values()):
                changed = replace(call, values={**call.values, "dtype": getattr(opweave, dtype)})  # of a new tensor
            error = outcome(changed)
            assert type(error).__name__ in operator.dtype_errors, f"{dtype}: {error!r}"


# ---- results ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize(
    "name", [name for name, each in OPERATORS.items() if not any(word in each.doc for word in VALUES)]
)
def test_results_are_as_documented(name: str) -> None:
    operator = OPERATORS[name]
    shape, dtype = claims(operator)
    missing = [kind for kind, claim in (("shape", shape), ("dtype", dtype)) if not claim]
    assert not missing, "say it in the entry: `doc` ends with `Returns SHAPE; dtype DTYPE.`"
    example = calls_of(operator)[-1]
    others = ("bool", "uint8", "int64", "bfloat16", "float64", "complex64")
    for call in (example, *(call_in_dtype(example, getattr(opweave, each)) for each in others)):
        if call is example or outcome(call) is None:
            result = call()
            check_shapes(shape, call, flat(result))
            check_dtypes(dtype, call, flat(result), getattr(result, "_fields", ()))


# ---- what is written by hand --------------------------------------------------------------------------------


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
