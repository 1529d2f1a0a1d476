"""Names that NumPy's users write out of habit: errors say what to write, and nothing takes them for there."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import opweave as ow
import pytest
from opweave._names.numpy_functions import NUMPY_FUNCTIONS
from opweave._tensor.absent_names import NUMPY_METHODS

X = ow.tensor([3.0, 1.0])


@pytest.mark.parametrize("name", NUMPY_METHODS)
def test_attributes(name: str) -> None:
    assert hasattr(np.ndarray, name)
    with pytest.raises(AttributeError) as error:
        getattr(X, name)
    assert str(error.value) == f"'Tensor' object has no attribute '{name}'; write {NUMPY_METHODS[name]}"
    assert not hasattr(X, name)
    assert not hasattr(ow.Tensor, name)
    assert name not in dir(X)


@pytest.mark.parametrize("name", NUMPY_FUNCTIONS)
def test_functions(name: str) -> None:
    assert hasattr(np, name)
    assert not hasattr(ow, name)
    with pytest.raises(AttributeError, match=f"module 'opweave' has no attribute '{name}'; write "):
        getattr(ow, name)


@pytest.mark.parametrize("text", [*NUMPY_METHODS.values(), *NUMPY_FUNCTIONS.values()])
def test_advice_names_what_there_is(text: str) -> None:
    for word in text.replace("(", " ").replace(",", " ").replace(")", " ").split():
        owner, _, path = word.partition(".")
        if owner in ("x", "opweave") and path:
            found: Any = X if owner == "x" else ow
            for part in path.split("."):
                assert hasattr(found, part), word
                found = getattr(found, part)
                if owner == "x":
                    break


def test_what_is_there_stays() -> None:
    assert "sum" in dir(X)
    assert copy.copy(X).equal(X)
    with pytest.raises(AttributeError, match=r"module 'opweave.nn' has no attribute 'array'$"):
        getattr(ow.nn, "array")  # noqa: B009


def test_names_of_dtypes() -> None:
    with pytest.raises(TypeError) as error:
        ow.zeros(2, dtype="float64")  # type: ignore[arg-type]
    assert str(error.value) == "zeros(): argument 'dtype' must be opweave.dtype, not str"
    assert getattr(error.value, "__notes__", ["Write opweave.float64."]) == ["Write opweave.float64."]
    with pytest.raises(TypeError, match=r"argument 'dtype' must be opweave.dtype, not str$") as error:
        ow.zeros(2, dtype="float96")  # type: ignore[arg-type]
    assert not hasattr(error.value, "__notes__")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes came with Python 3.11")
def test_dtypes_of_numpy_and_their_names() -> None:
    with pytest.raises(TypeError) as error:
        ow.zeros(2, dtype=np.float32)  # type: ignore[arg-type]
    assert error.value.__notes__ == ["Write opweave.float32."]
    with pytest.raises(RuntimeError, match="at start of device string: int8") as failed:
        X.to("int8")
    assert failed.value.__notes__ == ["Write opweave.int8."]
