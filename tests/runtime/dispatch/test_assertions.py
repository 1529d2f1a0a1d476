"""Checks of values are an operator: who looks at a condition, and when, follows from the kind of tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from opweave._dispatch.ops import ops
from opweave.nn import functional
from opweave.utils._python_dispatch import TorchDispatchMode

ASSERTION = "aten.assert_values.default"
READING = {"aten.item.default", "aten._local_scalar_dense.default", "aten.truth.default"}


class Recorded(TorchDispatchMode):
    """The names of the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def cross_entropy() -> None:
    scores = opweave.randn(4, 5, requires_grad=True)
    targets = opweave.tensor([1, 4, 0, 0])
    functional.cross_entropy(scores, targets).backward()
    functional.cross_entropy(scores, targets, weight=opweave.ones(5), label_smoothing=0.1, ignore_index=0).backward()


def embedding() -> None:
    table = opweave.randn(6, 3, requires_grad=True)
    functional.embedding(opweave.tensor([[1, 5], [0, 1]]), table).sum().backward()


def solve() -> None:
    matrix = (opweave.eye(3) + 0.1).requires_grad_()
    opweave.linalg.solve(matrix, opweave.ones(3, 2)).sum().backward()


def binary_cross_entropy() -> None:
    functional.binary_cross_entropy(opweave.rand(4, requires_grad=True), opweave.ones(4)).backward()


def one_hot() -> None:
    functional.one_hot(opweave.tensor([0, 2]), 3)


def transformer_layer() -> None:
    layer = opweave.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    hidden = opweave.tensor([[False, False, True], [False, False, False]])
    layer(opweave.randn(2, 3, 8), src_key_padding_mask=hidden).sum().backward()


@pytest.mark.parametrize(
    "name",
    [
        "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "Muon", "NAdam", "RAdam", "RMSprop",
        "Rprop", "SGD",
    ],
)  # fmt: skip
def test_steps_of_optimizers_read_no_value(name: str) -> None:
    weight = opweave.nn.Parameter(opweave.ones(2, 3))
    optimizer = getattr(opweave.optim, name)([weight], lr=0.1)
    weight.grad = opweave.ones(2, 3)
    with Recorded() as recorded:
        optimizer.step()
        optimizer.step()
    assert recorded.names
    assert not READING & {*recorded.names}


@pytest.mark.parametrize(
    ("program", "checks"),
    [
        (cross_entropy, True),
        (embedding, True),
        (solve, True),
        (binary_cross_entropy, True),
        (one_hot, True),
        (transformer_layer, False),
    ],
)
def test_programs_read_no_value(program: Callable[[], None], checks: bool) -> None:
    with Recorded() as recorded:
        program()
    assert not READING & {*recorded.names}
    assert (ASSERTION in recorded.names) == checks


OF_MATRICES = [
    "cholesky", "cholesky_ex", "cond", "eig", "eigh", "eigvals", "eigvalsh", "inv", "ldl_factor", "lu", "lu_factor",
    "matrix_rank", "pinv", "qr", "svd", "svdvals", "tensorinv",
]  # fmt: skip
MATRIX = opweave.tensor([[4.0, 1.0], [1.0, 3.0]])


@pytest.mark.parametrize("name", OF_MATRICES)
def test_functions_of_matrices_read_no_value(name: str) -> None:
    arguments = (MATRIX.reshape(2, 1, 2), 1) if name == "tensorinv" else (MATRIX,)
    with Recorded() as recorded:
        getattr(opweave.linalg, name)(*arguments)
    assert not READING & {*recorded.names}


def test_recording_keeps_a_check_and_what_it_says() -> None:
    seen = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if str(func) == ASSERTION:
                seen.append((args[0].tolist(), *args[1:]))
                return True
            return func(*args, **(kwargs or {}))

    with Seen():
        functional.cross_entropy(opweave.ones(2, 3), opweave.tensor([0, 2]))
    assert seen == [([True, True], "IndexError", "Target is out of bounds.")]


def test_the_cpu_checks_at_once_and_names_the_value() -> None:
    with pytest.raises(IndexError, match=r"^Target 7 is out of bounds\.$"):
        functional.cross_entropy(opweave.ones(2, 3), opweave.tensor([0, 7]))
    with Recorded(), pytest.raises(IndexError, match=r"^Target 7 is out of bounds\.$"):
        functional.cross_entropy(opweave.ones(2, 3), opweave.tensor([0, 7]))
    with pytest.raises(opweave.linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 2 is zero"):
        opweave.linalg.inv(opweave.stack([opweave.eye(2), opweave.tensor([[1.0, 0.0], [0.0, 0.0]])]))


@pytest.mark.parametrize(
    "condition",
    [
        opweave.tensor([True, False]),
        opweave.tensor([[True, False], [True, True]]).t(),
        opweave.tensor([[True, False], [True, False]])[:, 1],
        opweave.tensor([1.0, 0.0]),
    ],
)
def test_one_element_is_enough(condition: Any) -> None:
    with pytest.raises(ValueError, match=r"^\{text\}$"):
        ops.assert_values(condition, "ValueError", "{text}")


@pytest.mark.parametrize(
    "condition",
    [
        opweave.tensor([True, True]),
        opweave.tensor([[True, False], [True, False]])[:, 0],
        opweave.tensor([], dtype=opweave.bool),
        opweave.tensor([2, -1]),
        opweave.zeros(2, device="meta"),
    ],
)
def test_what_holds_or_is_not_there_passes(condition: Any) -> None:
    assert ops.assert_values(condition, "ValueError", "text") is True


def test_errors_have_names() -> None:
    with pytest.raises(ValueError, match=r"expected one of the errors IndexError, .* got 'KeyError'"):
        ops.assert_values(opweave.tensor(False), "KeyError", "text")


def test_samples_are_checked_together() -> None:
    scores, targets = opweave.ones(3, 2, 4), opweave.tensor([[0, 1], [2, 3], [3, 0]])
    loss = opweave.func.vmap(functional.cross_entropy)
    with Recorded() as recorded:
        loss(scores, targets)
    assert recorded.names.count(ASSERTION) == 1
    targets[1, 1] = 4
    with pytest.raises(IndexError, match=r"^Target is out of bounds\.$"):
        loss(scores, targets)


def checked(x: Any) -> Any:
    opweave._assert_async(x.sum(), "the sum is zero")
    return x * 2


@pytest.mark.filterwarnings("ignore")
def test_a_trace_checks_each_time() -> None:
    traced = opweave.jit.trace(checked, (opweave.ones(2),))
    assert traced(opweave.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="the sum is zero"):
        traced(opweave.zeros(2))
    graph = opweave.fx.symbolic_trace(lambda x: functional.embedding(x, opweave.ones(2, 2)))
    with pytest.raises(IndexError, match="index out of range in self"):
        graph(opweave.tensor([2]))


def test_unused_checks_stay_in_graphs() -> None:
    graph = opweave.fx.Graph()
    condition = graph.placeholder("condition")
    check = graph.call_function(ops.assert_values, (condition, "ValueError", "text"))
    graph.output(condition)
    graph.eliminate_dead_code()
    assert check in graph.nodes
    module = opweave.fx.GraphModule(opweave.nn.Module(), graph)
    with pytest.raises(ValueError, match="text"):
        module(opweave.tensor(False))
