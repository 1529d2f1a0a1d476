"""`T`, `mT`, `H` and `mH`, properties that are operators: whom they warn, and who sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import opweave
import pytest
from opweave.utils._python_dispatch import TorchDispatchMode


@pytest.mark.parametrize(
    ("shape", "read", "text"),
    [
        ((), lambda x: x.T, "Tensor.T is deprecated on 0-D tensors. This function is the identity"),
        ((2,), lambda x: x.T, "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprec"),
        ((), lambda x: x.mT, "Tensor.mT is deprecated on 0-D tensors. This function is the identity"),
        ((), lambda x: x.H, r"Tensor.H is deprecated on 0-D tensors. Consider using x.conj\(\)."),
        ((), lambda x: x.mH, r"Tensor.mH is deprecated on 0-D tensors. Consider using x.conj\(\)."),
        ((), lambda x: x.adjoint(), r"Tensor.adjoint\(\) is deprecated on 0-D tensors. Consider using x.conj\(\)."),
    ],
)
def test_a_deprecated_transpose_warns_at_the_line_that_asks(shape: Any, read: Any, text: str) -> None:
    with pytest.warns(UserWarning, match=text) as found:
        assert read(opweave.ones(shape)).shape == shape
    assert [Path(each.filename).name for each in found] == [Path(__file__).name]


def test_the_advice_of_the_warning_works() -> None:
    x = opweave.arange(24).reshape(2, 3, 4)
    assert x.permute(*opweave.arange(x.ndim - 1, -1, -1)).tolist() == x.permute(2, 1, 0).tolist()


def test_conjugate_transposes() -> None:
    x = opweave.tensor([[1 + 2j, 3j]])
    assert x.H.tolist() == x.mH.tolist() == x.adjoint().tolist() == [[1 - 2j], [-3j]]
    assert x.T.tolist() == x.mT.tolist() == [[1 + 2j], [3j]]


def test_a_property_is_decomposed_where_nothing_is_registered_for_it() -> None:
    names = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    with Log():
        x = opweave.ones(2, 3)
        assert (x.T.shape, x.mT.shape) == ((3, 2), (3, 2))
    assert names == ["aten.ones.default", "aten.permute.default", "aten.transpose.int"]


def test_docstrings() -> None:
    assert opweave.Tensor.mT.__doc__ == "The view with the last two dimensions exchanged."
