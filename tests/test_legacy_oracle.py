"""`Tensor(2, 3)`, `FloatTensor([1, 2])` and the like against torch: values, dtypes, errors and what the classes are."""

from __future__ import annotations

import opweave
import pytest
from compare import outcome

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

KINDS = [name for name in dir(opweave) if name.endswith("Tensor") and name != "Tensor"]
FORMS = [
    "()", "(2, 3).shape", "(3).shape", "(0)", "([1, 0])", "([[1, 0], [1, 1]])", "((1, 0))", "([True])", "(range(2))",
    "(L.Size([2, 1])).shape", "(size=(2,)).shape", "([1], device='cpu')", "(np.ones(2))", "([])", "(-1)", "(2, -1)",
    "(2.5)", "(5j)", "(True)", "(None)", "('a')", "(2, 'a')", "(2, 3.5)", "([[1], [2, 3]])",
]  # fmt: skip
CLASSES = [
    "{}", "{}.__name__", "{}.dtype", "{}.layout", "{}.is_cuda", "issubclass({}, L.Tensor)",
    "isinstance(L.ones(1), {})", "isinstance(1, {})", "L.ones(1).type({})", "({}([1]).type())",
    "x = L.ones(2); x = x.type({0}); {0}(x).data_ptr() == x.data_ptr()",
]  # fmt: skip


def test_kinds() -> None:
    assert {name for name in KINDS if hasattr(torch, name)} == set(KINDS)


@pytest.mark.parametrize("kind", ["Tensor", *KINDS])
@pytest.mark.parametrize("form", FORMS)
def test_form(kind: str, form: str) -> None:
    expression = f"L.{kind}{form}"
    assert outcome(expression, opweave) == outcome(expression, torch)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("expression", CLASSES)
def test_class(kind: str, expression: str) -> None:
    text = expression.format("L." + kind)
    assert outcome(text, opweave) == outcome(text, torch)


def test_of_tensors() -> None:
    x = opweave.tensor([1, 2])
    assert opweave.Tensor(x).data_ptr() == x.data_ptr()
    assert opweave.Tensor(x).dtype is opweave.int64
    with pytest.raises(TypeError):
        opweave.FloatTensor(x)
