"""opweave.func: functions that compute derivatives, nested in each other, of nested arguments, and their errors."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from derivatives import check_outcome
from harness.oracle import Call
from opweave import func


def numbers(library: Any, *shape: int, start: float = 0.5) -> Any:
    count = 1
    for size in shape:
        count *= size
    return library.tensor([start + (5 * index % 7) / 7 for index in range(count)], dtype=library.float64).reshape(shape)


def matrix(library: Any, recorded: bool = False) -> Any:
    return numbers(library, 2, 3).requires_grad_(recorded)


def cubes(x: Any) -> Any:
    return (x * x * x).sum()


def square_without_gradient(library: Any, x: Any) -> Any:
    with library.no_grad():
        return x * x


def unrecorded(library: Any, call: Any) -> Any:
    with library.no_grad():
        return call()


def pulled(results: Any, *cotangents: Any) -> Any:
    """The results of `vjp`, with those of the function among them for each of the gradients."""
    return [results[0], *(results[1](cotangent) for cotangent in cotangents), *results[2:]]


def gradient(library: Any, derivative: Any, parameter: Any) -> Any:
    """Of the sum of a derivative, by a parameter that the function uses."""
    return library.autograd.grad(derivative.sum(), parameter)


# Of a tensor that may require gradients, one that does not, and a parameter that functions use beside their arguments.
OF_TENSOR: dict[str, Any] = {
    "grad": lambda lib, x, y, p: lib.func.grad(cubes)(x),
    "grad with a parameter": lambda lib, x, y, p: lib.func.grad(lambda t: (t * t * p).sum())(x),
    "grad that is a parameter": lambda lib, x, y, p: lib.func.grad(lambda t: (t * p).sum())(x),
    "grad by all": lambda lib, x, y, p: lib.func.grad(lambda t, u: (t * u * u).sum(), argnums=(0, 1))(x, y),
    "grad by the last": lambda lib, x, y, p: lib.func.grad(lambda t, u: (t * t * u).sum(), argnums=-1)(x, y),
    "grad with a keyword": lambda lib, x, y, p: lib.func.grad(lambda t, by=1: (t * t * by).sum())(x, by=p),
    "grad of nothing": lambda lib, x, y, p: lib.func.grad(lambda t, u: (u * u).sum(), argnums=(0, 1))(x, y),
    "grad of a constant": lambda lib, x, y, p: lib.func.grad(lambda t: lib.ones(()))(x),
    "grad of a parameter": lambda lib, x, y, p: lib.func.grad(lambda t: p.sum())(x),
    "grad and value": lambda lib, x, y, p: lib.func.grad_and_value(cubes)(x),
    "grad, value and more": lambda lib, x, y, p: lib.func.grad_and_value(
        lambda t: (cubes(t), (t, {"twice": t * 2}, p)), has_aux=True
    )(x),
    "grad and more": lambda lib, x, y, p: lib.func.grad(lambda t: (cubes(t), t * 2), has_aux=True)(x),
    "nested arguments": lambda lib, x, y, p: lib.func.grad(lambda q, u: (q["w"] * u + q["b"][0]).pow(2).sum())(
        {"w": x, "b": (numbers(lib),)}, y
    ),
    "vjp": lambda lib, x, y, p: pulled(lib.func.vjp(lib.sin, x), y, p),
    "vjp by two": lambda lib, x, y, p: pulled(lib.func.vjp(lambda t, u: (t * u, t.sum()), x, x), (y, numbers(lib))),
    "vjp, nested": lambda lib, x, y, p: pulled(
        lib.func.vjp(lambda t: {"a": t.sin(), "b": [t.sum()]}, x), {"a": y, "b": [numbers(lib)]}
    ),
    "vjp and more": lambda lib, x, y, p: pulled(lib.func.vjp(lambda t: (t.sin(), t * 2), x, has_aux=True), y),
    "vjp of the identity": lambda lib, x, y, p: pulled(lib.func.vjp(lambda t: t, x), y),
    "vjp of a parameter": lambda lib, x, y, p: pulled(lib.func.vjp(lambda t: p, x), y),
    "jacrev": lambda lib, x, y, p: lib.func.jacrev(lib.sin)(x),
    "jacrev in chunks": lambda lib, x, y, p: lib.func.jacrev(lib.sin, chunk_size=2)(x),
    "jacrev by one": lambda lib, x, y, p: lib.func.jacrev(lambda t, u: {"product": t * u}, argnums=1)(x, y),
    "jacrev, nested": lambda lib, x, y, p: lib.func.jacrev(lambda t: [t["a"] * t["b"][0]])({"a": x, "b": [x]}),
    "jacrev and more": lambda lib, x, y, p: lib.func.jacrev(lambda t: (t * t, t * 2), has_aux=True)(x),
    "jacrev of jacrev": lambda lib, x, y, p: lib.func.jacrev(lib.func.jacrev(lib.sin))(x[0]),
    "hessian": lambda lib, x, y, p: lib.func.hessian(cubes)(x),
    "grad of grad": lambda lib, x, y, p: lib.func.grad(lambda t: lib.func.grad(cubes)(t).sum())(x),
    "grad of grad by something else": lambda lib, x, y, p: lib.func.grad(
        lambda t: lib.func.grad(lambda u: (u * u * t).sum())(y).sum()
    )(x),
    "grad of vjp": lambda lib, x, y, p: lib.func.grad(lambda t: lib.func.vjp(lib.sin, t)[1](y)[0].sum())(x),
    "grad of vjp by its vector": lambda lib, x, y, p: lib.func.grad(lambda t: lib.func.vjp(lib.sin, y)[1](t)[0].sum())(
        x
    ),
    "no_grad inside": lambda lib, x, y, p: lib.func.grad(lambda t: (t - square_without_gradient(lib, t)).pow(2).sum())(
        x
    ),
    "no_grad outside": lambda lib, x, y, p: unrecorded(lib, lambda: lib.func.grad(cubes)(x)),
    "no_grad outside of vjp": lambda lib, x, y, p: unrecorded(lib, lambda: pulled(lib.func.vjp(lib.sin, x), y)),
    "no_grad outside of jacrev": lambda lib, x, y, p: unrecorded(lib, lambda: lib.func.jacrev(lib.sin)(x)),
    "backward through grad": lambda lib, x, y, p: gradient(lib, lib.func.grad(lambda t: (t * t * t * p).sum())(x), p),
    "backward through hessian": lambda lib, x, y, p: gradient(
        lib, lib.func.hessian(lambda t: (t * t * t * p).sum())(x), p
    ),
    "backward through vjp": lambda lib, x, y, p: gradient(lib, lib.func.vjp(lambda t: t * t * p, x)[1](y)[0], p),
}

OTHERS: dict[str, Call] = {
    "no such argument": lambda lib: lib.func.grad(cubes, argnums=3)(matrix(lib)),
    "no such argument of jacrev": lambda lib: lib.func.jacrev(cubes, argnums=1)(matrix(lib)),
    "no arguments": lambda lib: lib.func.grad(cubes, argnums=())(matrix(lib)),
    "an argument twice": lambda lib: lib.func.grad(cubes, argnums=(0, -1))(matrix(lib)),
    "half an argument": lambda lib: lib.func.grad(cubes, argnums=1.5)(matrix(lib)),
    "half an argument of two": lambda lib: lib.func.grad(cubes, argnums=(0, 1.5))(matrix(lib)),
    "a list of arguments": lambda lib: lib.func.jacrev(cubes, argnums=[0])(matrix(lib)),
    "a number": lambda lib: lib.func.grad(cubes)(3.0),
    "grad of a number": lambda lib: lib.func.grad(lambda t: 3)(matrix(lib)),
    "grad of many": lambda lib: lib.func.grad(lambda t: t)(matrix(lib)),
    "grad without more": lambda lib: lib.func.grad(lambda t: t.sum(), has_aux=True)(matrix(lib)),
    "grad with a number as more": lambda lib: lib.func.grad(lambda t: (t.sum(), 3), has_aux=True)(matrix(lib)),
    "grad of a number and more": lambda lib: lib.func.grad(lambda t: (3, t), has_aux=True)(matrix(lib)),
    "vjp of a number": lambda lib: lib.func.vjp(lambda t: 3, matrix(lib)),
    "vjp of None": lambda lib: lib.func.vjp(lambda t: None, matrix(lib)),
    "vjp of nothing": lambda lib: lib.func.vjp(lambda t: (), matrix(lib)),
    "vjp of integers": lambda lib: lib.func.vjp(lambda t: t.long(), matrix(lib)),
    "vjp without more": lambda lib: lib.func.vjp(lambda t: t, matrix(lib), has_aux=True),
    "one vector for two": lambda lib: lib.func.vjp(lambda t: (t, t), matrix(lib))[1](matrix(lib)),
    "another nest": lambda lib: lib.func.vjp(lambda t: {"a": [t, t]}, matrix(lib))[1]((matrix(lib),)),
    "a vector of another shape": lambda lib: lib.func.vjp(lib.sin, matrix(lib))[1](numbers(lib)),
    "complex output": lambda lib: lib.func.jacrev(lambda t: t * 1j)(matrix(lib)),
    "complex input": lambda lib: lib.func.jacrev(lib.abs)(matrix(lib) * 1j),
    "complex grad": lambda lib: lib.func.grad(lambda t: (t.abs() ** 2).sum())(matrix(lib) * (1 + 2j)),
    "empty chunks": lambda lib: lib.func.jacrev(cubes, chunk_size=0),
    "jacrev of a number": lambda lib: lib.func.jacrev(lambda t: 3)(matrix(lib)),
    "jacrev of nothing": lambda lib: lib.func.jacrev(lib.sin)(numbers(lib, 0)),
    "name": lambda lib: [lib.func.grad(cubes).__name__, lib.func.jacrev(cubes).__name__],
}


def test_gradients() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert func.grad(cubes)(x).tolist() == [3.0, 12.0]
    results, (value, twice) = func.grad_and_value(lambda t: (cubes(t), t * 2), has_aux=True)(x)
    assert (results.tolist(), value.item(), twice.tolist()) == ([3.0, 12.0], 9.0, [2.0, 4.0])
    assert not any(each.requires_grad for each in (results, value, twice))
    results = func.grad(lambda p, y: (p["w"] * y + p["b"]).sum())({"w": x, "b": opweave.tensor(1.0)}, x)
    assert {name: each.tolist() for name, each in results.items()} == {"w": [1.0, 2.0], "b": 2.0}
    assert not x.requires_grad


def test_nested_gradients() -> None:
    """Derivatives of x³·y by x and then by y, and the third by x."""
    x, y = opweave.tensor(2.0), opweave.tensor(5.0)
    by_x = func.grad(lambda x, y: x * x * x * y)
    assert func.grad(by_x, argnums=1)(x, y).item() == 12.0
    assert func.grad(func.grad(func.grad(lambda x: x * x * x)))(x).item() == 6.0
    inner = func.grad(lambda x: x * func.grad(lambda y: x * y)(y))
    assert inner(x).item() == 4.0


def test_vjp() -> None:
    x, y = opweave.tensor([1.0, 2.0]), opweave.tensor([3.0, 4.0])
    output, product = func.vjp(lambda x, y: (x * y, x.sum()), x, y)
    assert [each.tolist() for each in output] == [[3.0, 8.0], 3.0]
    for _ in range(2):
        results = product((opweave.tensor([1.0, 10.0]), opweave.tensor(100.0)))
        assert [each.tolist() for each in results] == [[103.0, 140.0], [1.0, 20.0]]


def test_matrices() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert func.jacrev(lambda t: t * t)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert func.hessian(cubes)(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    result = func.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(x, opweave.tensor([3.0, 4.0]))
    assert result[0][1].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert result[1][1].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_history_of_results_is_that_of_what_went_in() -> None:
    plain, recorded = opweave.tensor([1.0, 2.0]), opweave.tensor([1.0, 2.0], requires_grad=True)
    assert not func.grad(cubes)(plain).requires_grad
    assert func.grad(cubes)(recorded).requires_grad
    func.grad(cubes)(recorded).sum().backward()
    assert recorded.grad is not None
    assert recorded.grad.tolist() == [6.0, 12.0]
    with_parameter = func.grad(lambda t: (t * t * recorded).sum())(plain)
    (gradient,) = opweave.autograd.grad(with_parameter.sum(), recorded)
    assert gradient.tolist() == [2.0, 4.0]


@pytest.mark.oracle
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", OF_TENSOR)
def test_as_torch(name: str, recorded: bool) -> None:
    check_outcome(
        lambda lib: OF_TENSOR[name](
            lib, matrix(lib, recorded), matrix(lib), numbers(lib, 2, 3, start=1.25).requires_grad_()
        )
    )


@pytest.mark.oracle
@pytest.mark.parametrize("name", OTHERS)
def test_misuse_as_torch(name: str) -> None:
    check_outcome(OTHERS[name])
