"""What calls give in opweave and in torch, in a form that can be compared.

A call takes the library as its argument. Numbers agree to seven digits; errors agree in type and text, in which each
library may name itself.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import opweave
import pytest

Call = Callable[[Any], Any]

# Submodules are imported when they are first asked for in opweave, in torch some are not.
SUBMODULES = ("autograd.functional", "func", "utils.checkpoint")


def outcomes(call: Call) -> tuple[Any, Any]:
    """What the call gives in opweave and in torch, or which errors it raises."""
    torch = pytest.importorskip("torch")
    for name in SUBMODULES:
        importlib.import_module(f"torch.{name}")
    return outcome(call, opweave), outcome(call, torch)


def outcome(call: Call, library: ModuleType) -> Any:
    library.manual_seed(0)
    try:
        return described(call(library), library)
    except Exception as error:
        return type(error).__name__, text_of(error)


def described(value: Any, library: ModuleType) -> Any:
    if isinstance(value, library.Tensor):
        numbers = [digits(number) for number in value.detach().reshape(-1).tolist()]
        return str(value.dtype).rpartition(".")[2], tuple(value.shape), value.requires_grad, numbers
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(item, library) for item in value]
    if isinstance(value, dict):
        return {key: described(item, library) for key, item in value.items()}
    return value


def digits(number: Any) -> Any:
    if isinstance(number, complex):
        return digits(number.real), digits(number.imag)
    return f"{number + 0.0:.7g}" if isinstance(number, float) else number


def text_of(error: Exception) -> str:
    """The text of an error without the names of the libraries, and without advice, which each gives on its own."""
    text = re.sub(r"\b(opweave|torch)\.", "", str(error))
    text = re.sub(r"\d+\.\d{6,}", lambda number: digits(float(number[0])), text)
    return re.split(r"\n\n|Please |Give back|undefined output grads", text)[0].strip(". ")
