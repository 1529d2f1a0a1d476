"""autograd.functional: products with Jacobians and Hessians, these themselves, and their errors."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from derivatives import check_outcome
from opweave.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

PRODUCTS = ("vjp", "jvp", "vhp", "hvp")
MATRICES = ("jacobian", "hessian")


def numbers(library: Any, *shape: int, start: float = 0.5) -> Any:
    count = 1
    for size in shape:
        count *= size
    return library.tensor([start + (5 * index % 7) / 7 for index in range(count)], dtype=library.float64).reshape(shape)


def inputs(library: Any) -> dict[str, Any]:
    """By name: tensors and tuples of them, for functions and as vectors."""
    x, y = numbers(library, 2, 3), numbers(library, 2, 3, start=1.25)
    return {
        "x": x,
        "pair": (x, y),
        "single": (x,),
        "scalar": numbers(library),
        "short": numbers(library, 3),
        "wrong pair": (x, numbers(library, 3)),
        "recorded": numbers(library, 2, 3).requires_grad_(),
        "recorded pair": (numbers(library, 2, 3).requires_grad_(), y),
        "empty": numbers(library, 0, 3),
        "none": None,
        "number": 3,
        "number in a tuple": (x, 3),
    }


FUNCTIONS: dict[str, tuple[str, Any]] = {
    "elementwise": ("x", lambda lib, x: x.sin()),
    "product": ("pair", lambda lib, x, y: x * y),
    "two outputs": ("pair", lambda lib, x, y: (x * y, x.sum())),
    "unused": ("pair", lambda lib, x, y: x * 2),
    "cubes": ("x", lambda lib, x: x.pow(3).sum()),
    "cubes of both": ("pair", lambda lib, x, y: (x * y * y).sum()),
    "linear": ("x", lambda lib, x: x.sum()),
    "constant": ("x", lambda lib, x: lib.ones((), dtype=lib.float64)),
    "scalar": ("scalar", lambda lib, x: x * x * x),
    "tuple of one": ("scalar", lambda lib, x: (x * x,)),
    "one of shape": ("x", lambda lib, x: (x.sum() ** 2).reshape(1, 1)),
    "half recorded": ("pair", lambda lib, x, y: (x * 2, y.detach())),
    "square, unused": ("pair", lambda lib, x, y: x.pow(2).sum()),
    "recorded": ("recorded", lambda lib, x: x.pow(3).sum()),
    "recorded pair": ("recorded pair", lambda lib, x, y: (x * y.sin()).sum()),
    "complex": ("x", lambda lib, x: x * 1j),
    "no elements": ("empty", lambda lib, x: x * 2),
    "a number": ("x", lambda lib, x: 3),
    "a list": ("x", lambda lib, x: [x, x]),
    "of a number": ("number", lambda lib, x: x),
    "of a tuple with a number": ("number in a tuple", lambda lib, x, y: x),
}
VECTORS = ("none", "x", "pair", "single", "scalar", "short", "wrong pair", "recorded", "recorded pair", "number")


def call(name: str, function: str, library: Any, *v: str, **options: Any) -> Any:
    known = inputs(library)
    inputs_of, compute = FUNCTIONS[function]
    operation = getattr(library.autograd.functional, name)
    return operation(lambda *x: compute(library, *x), known[inputs_of], *(known[each] for each in v), **options)


def test_products() -> None:
    x = opweave.tensor([1.0, 2.0, 3.0])
    output, product = vjp(lambda x: x * x, x, opweave.tensor([1.0, 10.0, 100.0]))
    assert output.tolist() == [1.0, 4.0, 9.0]
    assert product.tolist() == [2.0, 40.0, 600.0]
    output, product = jvp(lambda x: (x.sum(), x * x), x, opweave.tensor([1.0, 10.0, 100.0]))
    assert [part.tolist() for part in output] == [6.0, [1.0, 4.0, 9.0]]
    assert [part.tolist() for part in product] == [111.0, [2.0, 40.0, 600.0]]
    for second in (vhp, hvp):
        output, product = second(lambda x: x.pow(3).sum(), x, opweave.tensor([1.0, 10.0, 100.0]))
        assert output.item() == 36.0
        assert product.tolist() == [6.0, 120.0, 1800.0]


def test_products_on_both_sides() -> None:
    """Of a Jacobian that is not symmetric, and of inputs of two sizes."""
    x, y = opweave.tensor([1.0, 2.0]), opweave.tensor([3.0, 5.0, 7.0])

    def outer(x: Any, y: Any) -> Any:
        return x.unsqueeze(1) * y

    v = opweave.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    assert [part.tolist() for part in vjp(outer, (x, y), v)[1]] == [[3.0, 14.0], [1.0, 0.0, 4.0]]
    direction = opweave.tensor([1.0, 0.0]), opweave.tensor([0.0, 1.0, 0.0])
    assert jvp(outer, (x, y), direction)[1].tolist() == [[3.0, 6.0, 7.0], [0.0, 2.0, 0.0]]


@pytest.mark.parametrize("vectorize", [False, True])
def test_matrices(vectorize: bool) -> None:
    x, y = opweave.tensor([1.0, 2.0]), opweave.tensor([3.0])
    results = jacobian(lambda x, y: (x * y, y * y), (x, y), vectorize=vectorize)
    assert [[part.tolist() for part in row] for row in results] == [
        [[[3.0, 0.0], [0.0, 3.0]], [[1.0], [2.0]]],
        [[[0.0, 0.0]], [[6.0]]],
    ]
    results = hessian(lambda x, y: (x * x * y).sum(), (x, y), vectorize=vectorize)
    assert [[part.tolist() for part in row] for row in results] == [
        [[[6.0, 0.0], [0.0, 6.0]], [[2.0], [4.0]]],
        [[[2.0, 4.0]], [[0.0]]],
    ]


def test_matrices_of_nothing() -> None:
    result = jacobian(lambda x: x.sum(1), opweave.ones(0, 3), vectorize=True)
    assert result.shape == (0, 0, 3)


def test_results_have_no_history_unless_asked_for() -> None:
    x = opweave.tensor([1.0, 2.0], requires_grad=True)
    for function in (vjp, jvp, vhp, hvp):
        for create_graph in (False, True):
            results = function(
                lambda x: x.pow(3).sum(), x, v=None if function is vjp else x.detach(), create_graph=create_graph
            )
            assert [result.requires_grad for result in results] == [create_graph] * 2
    matrix = jacobian(lambda x: x.pow(3), x, create_graph=True)
    (gradient,) = opweave.autograd.grad(matrix.sum(), x)
    assert gradient.tolist() == [6.0, 12.0]
    assert x.grad is None


def test_works_while_nothing_is_recorded() -> None:
    with opweave.no_grad():
        assert jacobian(lambda x: x * x, opweave.tensor([1.0, 2.0])).tolist() == [[2.0, 0.0], [0.0, 4.0]]
        assert hvp(lambda x: x.pow(3).sum(), opweave.tensor([1.0]), opweave.tensor([1.0]))[1].tolist() == [6.0]


def test_strict_mode_refuses_what_does_not_depend_on_inputs() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert vjp(lambda x, y: x.sum(), (x, x))[1][1].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="independent of input 1"):
        vjp(lambda x, y: x.sum(), (x, x), strict=True)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        jacobian(lambda x: x.detach(), x, strict=True)


def test_jacobians_by_tangents() -> None:
    x, y = opweave.tensor([1.0, 2.0]), opweave.tensor([[3.0], [0.5], [2.0]], requires_grad=True)

    def function(x: Any, y: Any) -> Any:
        return (x * y).sin(), x.sum()

    want = jacobian(function, (x, y))
    got = jacobian(function, (x, y), strategy="forward-mode", vectorize=True)
    for rows in zip(want, got, strict=True):
        for mine, theirs in zip(*rows, strict=True):
            assert opweave.allclose(mine, theirs)
            assert not theirs.requires_grad
    square = jacobian(lambda x: x.square(), x, strategy="forward-mode", vectorize=True)
    assert square.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert jacobian(lambda x: x.sum(), opweave.ones(0), strategy="forward-mode", vectorize=True).shape == (0,)
    cubes = hessian(lambda x: (x**3).sum(), x, outer_jacobian_strategy="forward-mode", vectorize=True)
    assert cubes.tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, NotImplementedError),
        ({"vectorize": True, "strict": True}, RuntimeError),
        ({"vectorize": True, "create_graph": True}, NotImplementedError),
    ],
)
def test_options_that_tangents_exclude(options: dict[str, bool], error: type[Exception]) -> None:
    with pytest.raises(error):
        jacobian(lambda x: x, opweave.ones(2), strategy="forward-mode", **options)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("create_graph", "strict", "recorded"),
    [(False, False, True), (True, False, True), (False, True, True), (True, True, True), (False, False, False)],
)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_products_as_torch(function: str, create_graph: bool, strict: bool, recorded: bool) -> None:
    def one(library: Any, name: str, v: str) -> Any:
        with library.set_grad_enabled(recorded):
            return call(name, function, library, v, create_graph=create_graph, strict=strict)

    for name in PRODUCTS:
        for v in VECTORS:
            check_outcome(lambda lib: one(lib, name, v), f"{name} {v}")  # noqa: B023 (called at once)


@pytest.mark.oracle
@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_matrices_as_torch(function: str, name: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if (function, create_graph, strict) == ("two outputs", True, True):
        pytest.skip("torch names the number of the output where it speaks of inputs")
    if (function, name, strict, vectorize) == ("no elements", "jacobian", False, True):
        pytest.skip("torch has no batch of nothing")
    check_outcome(lambda lib: call(name, function, lib, create_graph=create_graph, strict=strict, vectorize=vectorize))


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "option"), [("jacobian", "strategy"), ("hessian", "outer_jacobian_strategy")])
def test_unknown_strategies_as_torch(name: str, option: str) -> None:
    check_outcome(lambda lib: call(name, "cubes", lib, **{option: "backwards"}))
