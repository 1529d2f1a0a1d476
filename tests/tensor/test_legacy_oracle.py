"""`Tensor(2, 3)`, `FloatTensor([1, 2])` and the like against torch: values, dtypes, errors and what the classes are."""

from __future__ import annotations

import opweave
import pytest
from harness import expressions, oracle

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
    assert all(oracle.has(name) for name in KINDS)


@pytest.mark.parametrize("kind", ["Tensor", *KINDS])
def test_form(kind: str) -> None:
    expressions.check_all(FORMS, f"L.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_class(kind: str) -> None:
    expressions.check_all(text.format("L." + kind) for text in CLASSES)


def test_of_tensors() -> None:
    x = opweave.tensor([1, 2])
    assert opweave.Tensor(x).data_ptr() == x.data_ptr()
    assert opweave.Tensor(x).dtype is opweave.int64
    with pytest.raises(TypeError):
        opweave.FloatTensor(x)
