"""`Tensor(2, 3)`, `FloatTensor([1, 2])` and the like against torch: values, dtypes, errors and what the classes are."""

from __future__ import annotations

import opweave
import pytest
from harness import expressions, oracle
from harness.oracle import Like

KINDS = [name for name in dir(opweave) if name.endswith("Tensor") and name != "Tensor"]
FORMS = [
    "()", "(2, 3).shape", "(3).shape", "(0)", "([1, 0])", "([[1, 0], [1, 1]])", "((1, 0))", "([True])", "(range(2))",
    "(L.Size([2, 1])).shape", "(size=(2,)).shape", "([1], device='cpu')", "(np.ones(2))", "([])", "(-1)", "(2, -1)",
    "(2.5)", "(5j)", "(True)", "(None)", "('a')", "(2, 'a')", "(2, 3.5)", "([[1], [2, 3]])",
]  # fmt: skip
CLASSES = [
    "{}", "{}.__name__", "{}.dtype", "{}.layout", "{}.is_cuda", "issubclass({}, L.Tensor)",
    "isinstance(L.ones(1), {})", "isinstance(1, {})", "isinstance(L.ones(1).to_sparse(), {})",
    "isinstance(L.ones(1, device='meta'), {})", "{}.is_sparse", "L.ones(1).type({})", "({}([1]).type())",
    "x = L.ones(2); x = x.type({0}); {0}(x).data_ptr() == x.data_ptr()",
]  # fmt: skip
SPARSE_KINDS = [f"sparse.{name}" for name in dir(opweave.sparse) if name.endswith("Tensor") and name != "Tensor"]
PLACES = "L.tensor([[0, 1], [2, 0]])"
SPARSE_FORMS = [
    "()", "(2, 3)", "(0)", "(L.Size([2, 1]))", "(size=(2, 1))", "(size=L.Size([2]))", "(2, device='cpu')", "([2, 1])",
    "((2, 1))", "(None)", "('a')", "(2.5)", "(2, 'a')", "(np.ones(2))", "(L.ones(2))",
    *(form.replace("places", PLACES) for form in (
        "(places, L.tensor([1.5, 2]))", "(places, L.tensor([3, 4]), (2, 4))", "(places, L.ones(2, 2))",
        "(places, L.ones(2), L.Size([3, 3]))", "(places, L.ones(2), size=(3, 3))", "(indices=places, values=L.ones(2))",
        "(places)", "(places, [1, 2])", "(places, L.ones(2), 3, 3)", "(places, L.ones(3))", "(places, L.ones(2), (3,))",
    )),
]  # fmt: skip
SPARSE_CLASSES = [
    *CLASSES[:6], "isinstance(L.ones(1).to_sparse(), {})", "isinstance(L.ones(1, 1).to_sparse_csr(), {})",
    "{}.is_sparse", "L.ones(1).type({})", "L.ones(1).to_sparse().type({})",
    "L.ones(1).type('{0}'.replace('L', 'torch', 1))",
]  # fmt: skip


def test_kinds() -> None:
    assert all(oracle.has(name) for name in KINDS)
    sparse = ["BFloat16", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"]
    assert sorted(SPARSE_KINDS) == [f"sparse.{name}Tensor" for name in sparse]


@pytest.mark.parametrize("kind", [*SPARSE_KINDS, "ones(1).to_sparse().new", "ones(1, dtype=L.int8).to_sparse().new"])
def test_sparse_form(kind: str) -> None:
    expressions.check_all(SPARSE_FORMS, f"L.{kind}", Like(printed=True, until=", but expected one of"))


@pytest.mark.parametrize("kind", SPARSE_KINDS)
def test_sparse_class(kind: str) -> None:
    expressions.check_all(text.format("L." + kind) for text in SPARSE_CLASSES)


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
    for other in (x, opweave.ones(1).to_sparse()):
        with pytest.raises(TypeError):
            opweave.FloatTensor(other)


def test_of_compressed_tensors() -> None:
    with pytest.raises(RuntimeError, match="sparse_csr"):
        opweave.ones(1, 1).to_sparse_csr().new(2, 2)
