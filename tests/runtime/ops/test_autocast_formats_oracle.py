"""Under autocast, results of every function have torch's formats, for inputs of float32 and of the half format.

The inputs are those that tests/runtime/ops/test_sample_inputs_oracle.py has recorded, where they are of float32.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import opweave
from harness import recording
from harness.outcome import Described, restored
from harness.sample_inputs import function_of, rebuilt

LEFT_OUT = {
    "to": "the dtype is asked for",
}


def inputs() -> Iterator[tuple[str, Described]]:
    """Of each function and variant of it: its name and the arguments of the first sample with a tensor of float32."""
    answers, tests = recording.load("test_sample_inputs_oracle")
    for test, (_, *places) in tests.items():
        name = test.partition("[")[2].removesuffix("]")
        for answer in (answers[place] for place in places):
            if _are_arguments(answer) and "float32" in _dtypes(answer) and name not in LEFT_OUT:
                yield name, restored(answer)
                break


def _are_arguments(answer: Any) -> bool:
    """Is a recorded answer a list, of positional arguments, and a table, of named ones?"""
    items = answer.get("items", ()) if isinstance(answer, dict) else ()
    return len(items) == 2 and isinstance(items[1], dict) and "keys" in items[1]


def _dtypes(answer: Any) -> set[str]:
    """The dtypes of the tensors in an answer."""
    if isinstance(answer, list):
        return set().union(*map(_dtypes, answer))
    if not isinstance(answer, dict):
        return set()
    return {answer["dtype"]} if "dtype" in answer else set().union(*map(_dtypes, answer.values()))


def formats(library: Any, name: str, given: Described, half: bool) -> str:
    """The dtypes of the results, or that there is an error."""

    def halved(value: Any) -> Any:
        if isinstance(value, library.Tensor):
            return value.to(library.bfloat16) if half and value.dtype is library.float32 else value
        if isinstance(value, dict):
            return {key: halved(each) for key, each in value.items()}
        return type(value)(map(halved, value)) if type(value) in (list, tuple) else value

    def dtypes(value: Any) -> Iterator[str]:
        if isinstance(value, library.Tensor):
            yield str(value.dtype).partition(".")[2]
        elif isinstance(value, (list, tuple)):
            for each in value:
                yield from dtypes(each)

    try:
        arguments, keywords = halved(rebuilt(given, library))
        with library.autocast("cpu", dtype=library.bfloat16):
            return " ".join(dtypes(function_of(name, library)(*arguments, **keywords)))
    except Exception:  # of any class, or inputs that cannot be made again: other tests compare these
        return "error"


def test_formats() -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, given in inputs():
            function = name.partition("-")[0]
            for half in (False, True):
                want = recording.answer(
                    f"{name} {half}",
                    lambda function=function, given=given, half=half: formats(
                        importlib.import_module("torch"), function, given, half
                    ),
                )
                got = formats(opweave, function, given, half)
                if want not in ("error", got):
                    wrong.append(f"{name} of {'bfloat16' if half else 'float32'}: {got}, not {want}")
    assert not wrong, "\n".join(wrong)
