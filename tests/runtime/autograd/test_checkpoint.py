"""utils.checkpoint: what is computed again, with which random numbers, and what if it comes out differently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import opweave
import pytest
from derivatives import check_outcome
from opweave.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop

BOTH = pytest.mark.parametrize("use_reentrant", [True, False], ids=["reentrant", "not reentrant"])


def matrix(library: Any, start: float = 0.5) -> Any:
    numbers = [start + (5 * index % 7) / 7 for index in range(6)]
    return library.tensor(numbers, dtype=library.float64).reshape(2, 3).requires_grad_()


def compute(x: Any, y: Any) -> Any:
    return (x * y).sin().exp() * x


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self.function(*args)


def differently(first: Any, later: Any) -> Any:
    """A function that does something else from its second call on."""
    calls = [0]

    def function(x: Any) -> Any:
        calls[0] += 1
        return first(x) if calls[0] == 1 else later(x)

    return function


@BOTH
def test_gradients_are_those_of_the_function(use_reentrant: bool) -> None:
    x, y = matrix(opweave), matrix(opweave, 1.25)
    counted = Counted(compute)
    result = checkpoint(counted, x, y, use_reentrant=use_reentrant)
    assert counted.calls == 1
    result.sum().backward()
    assert counted.calls == 2
    u, v = matrix(opweave), matrix(opweave, 1.25)
    expected = compute(u, v)
    expected.sum().backward()
    assert opweave.equal(result, expected)
    for gradient, wanted in ((x.grad, u.grad), (y.grad, v.grad)):
        assert gradient is not None
        assert wanted is not None
        assert opweave.equal(gradient, wanted)


@BOTH
def test_random_numbers_are_the_same_again(use_reentrant: bool) -> None:
    def noisy(x: Any) -> Any:
        return x * opweave.rand(2, 3, dtype=opweave.float64)

    x = matrix(opweave)
    result = checkpoint(noisy, x, use_reentrant=use_reentrant)
    state = opweave.get_rng_state()
    result.sum().backward()
    assert opweave.equal(opweave.get_rng_state(), state)
    assert x.grad is not None
    assert opweave.allclose(x.grad * x, result)


def test_random_numbers_need_not_be_the_same() -> None:
    def noisy(x: Any) -> Any:
        return x * opweave.rand(2, 3, dtype=opweave.float64)

    x = matrix(opweave)
    result = checkpoint(noisy, x, use_reentrant=True, preserve_rng_state=False)
    result.sum().backward()
    assert x.grad is not None
    assert not opweave.allclose(x.grad * x, result)


@BOTH
def test_sequences(use_reentrant: bool) -> None:
    functions = [Counted(function) for function in (opweave.sin, opweave.exp, opweave.tanh, opweave.cos, opweave.sin)]
    x = matrix(opweave)
    result = checkpoint_sequential(functions, 2, x, use_reentrant=use_reentrant)
    result.sum().backward()
    # The last segment keeps what it computes.
    assert [function.calls for function in functions] == [2, 2, 1, 1, 1]
    u = matrix(opweave)
    u.sin().exp().tanh().cos().sin().sum().backward()
    assert x.grad is not None
    assert u.grad is not None
    assert opweave.equal(x.grad, u.grad)


def test_stops_early() -> None:
    done = []

    def function(x: Any) -> Any:
        y = x.sin().exp()
        done.append(len(done))
        return y + 1

    x = matrix(opweave)
    checkpoint(function, x, use_reentrant=False).sum().backward()
    assert len(done) == 1
    checkpoint(function, x, use_reentrant=False, early_stop=False).sum().backward()
    assert len(done) == 3
    with set_checkpoint_early_stop(False):
        result = checkpoint(function, x, use_reentrant=False)
    result.sum().backward()
    assert len(done) == 5


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (lambda x: x * 2, "A different number of tensors was saved"),
        (lambda x: x[:1].sin().exp(), "different metadata than during the forward pass"),
    ],
)
def test_other_tensors_are_found_out(later: Any, message: str) -> None:
    function = differently(lambda x: x.sin().exp(), later)
    result = checkpoint(function, matrix(opweave), use_reentrant=False)
    with pytest.raises(CheckpointError, match=message):
        result.sum().backward()


def test_more_tensors_are_found_out() -> None:
    function = differently(opweave.sin, lambda x: x.sin().exp().sin())
    result = checkpoint(function, matrix(opweave), use_reentrant=False, early_stop=False)
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        result.sum().backward()


def test_changed_inputs_are_found_out() -> None:
    x = matrix(opweave) * 2
    result = checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_nothing_is_computed_again_where_nothing_is_recorded() -> None:
    x = matrix(opweave)
    with opweave.no_grad():
        assert not checkpoint(compute, x, x, use_reentrant=False).requires_grad


def gradient(library: Any, function: Any, use_reentrant: bool, **options: Any) -> Any:
    """What a checkpoint gives, and the gradient of its sum."""
    x = matrix(library)
    result = library.utils.checkpoint.checkpoint(function, x, use_reentrant=use_reentrant, **options)
    result.sum().backward()
    return result, x.grad


def parameters(library: Any, use_reentrant: bool) -> Any:
    """Gradients of what the function knows beside its arguments."""
    x, y = matrix(library), matrix(library, 1.25)
    result = library.utils.checkpoint.checkpoint(lambda t: compute(t, y), x, use_reentrant=use_reentrant)
    result.sum().backward()
    return result, x.grad, y.grad


def by_autograd_grad(library: Any, use_reentrant: bool) -> Any:
    x = matrix(library)
    result = library.utils.checkpoint.checkpoint(compute, x, x, use_reentrant=use_reentrant)
    return library.autograd.grad(result.sum(), x)


def by_inputs(library: Any, use_reentrant: bool) -> Any:
    x = matrix(library)
    result = library.utils.checkpoint.checkpoint(compute, x, x, use_reentrant=use_reentrant)
    result.sum().backward(inputs=[x])
    return x.grad


def second_gradients(library: Any, use_reentrant: bool) -> Any:
    x = matrix(library)
    result = library.utils.checkpoint.checkpoint(compute, x, x, use_reentrant=use_reentrant)
    (first,) = library.autograd.grad(result.sum(), x, create_graph=True)
    first.sum().backward()
    return first, x.grad


def twice(library: Any, use_reentrant: bool) -> Any:
    x, counted = matrix(library), Counted(compute)
    result = library.utils.checkpoint.checkpoint(counted, x, x, use_reentrant=use_reentrant)
    result.sum().backward(retain_graph=True)
    result.sum().backward()
    return x.grad, counted.calls


def nested(library: Any, use_reentrant: bool) -> Any:
    inner, checkpoint = Counted(compute), library.utils.checkpoint.checkpoint

    def outer(x: Any) -> Any:
        return checkpoint(inner, x.sin() * 2, x, use_reentrant=use_reentrant).exp()

    return gradient(library, outer, use_reentrant), inner.calls


def several_results(library: Any, use_reentrant: bool) -> Any:
    x = matrix(library)
    results = library.utils.checkpoint.checkpoint(lambda x, n: (x * n, x.sin(), 3), x, 2, use_reentrant=use_reentrant)
    (results[0] + results[1]).sum().backward()
    return results, x.grad


def contexts(library: Any, use_reentrant: bool) -> Any:
    seen = []

    @contextmanager
    def noted(name: str) -> Iterator[None]:
        seen.append(name)
        yield
        seen.append(f"end of {name}")

    def make() -> Any:
        return noted("first"), noted("second")

    return gradient(library, lambda x: x.sin().exp(), use_reentrant, context_fn=make), seen


def suppressed(library: Any, use_reentrant: bool) -> Any:
    @contextmanager
    def silent() -> Iterator[None]:
        with suppress(ValueError):
            yield

    def fails(x: Any) -> Any:
        raise ValueError("no")

    return gradient(library, fails, use_reentrant, context_fn=lambda: (silent(), silent()))


def gradients_within(library: Any, use_reentrant: bool, again: bool) -> Any:
    def function(x: Any) -> Any:
        z = x.sin().cos()
        (result,) = library.autograd.grad(z.sum(), x, retain_graph=again, create_graph=again)
        return result * (z if again else x.cos())

    return gradient(library, function, use_reentrant)


def of_lists(library: Any, use_reentrant: bool) -> Any:
    x = matrix(library)
    return library.utils.checkpoint.checkpoint(lambda x: x[0] * x[1]["a"], [x, {"a": x}], use_reentrant=use_reentrant)


def sequence(library: Any, use_reentrant: bool, segments: int, **options: Any) -> Any:
    x = matrix(library)
    functions = [library.sin, library.exp, library.tanh]
    result = library.utils.checkpoint.checkpoint_sequential(functions, segments, x, use_reentrant, **options)
    result.sum().backward()
    return result, x.grad


CALLS: dict[str, Any] = {
    "parameters": parameters,
    "autograd.grad": by_autograd_grad,
    "inputs of backward": by_inputs,
    "second gradients": second_gradients,
    "twice": twice,
    "nested": nested,
    "several results": several_results,
    "contexts": contexts,
    "a context that suppresses errors": suppressed,
    "gradients within": lambda lib, r: gradients_within(lib, r, False),
    "gradients within, kept": lambda lib, r: gradients_within(lib, r, True),
    "lists": of_lists,
    "no history": lambda lib, r: gradient(lib, lambda x: x.detach() * 2, r),
    "a keyword": lambda lib, r: gradient(lib, lambda x, by=1: x * x * by, r, by=3),
    "a context and debug": lambda lib, r: gradient(lib, lib.sin, r, debug=True, context_fn=lambda: (1, 2)),
    "another check": lambda lib, r: gradient(lib, lib.sin, r, determinism_check="x"),
    "no check": lambda lib, r: gradient(
        lib, differently(lambda x: x.exp().sin(), lambda x: (x * 1).exp().sin()), r, determinism_check="none"
    ),
    "one segment": lambda lib, r: sequence(lib, r, 1),
    "two segments": lambda lib, r: sequence(lib, r, 2),
    "three segments": lambda lib, r: sequence(lib, r, 3),
    "four segments": lambda lib, r: sequence(lib, r, 4),
    "a keyword of a sequence": lambda lib, r: sequence(lib, r, 1, by=2),
}


@pytest.mark.oracle
@BOTH
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_as_torch(name: str, use_reentrant: bool) -> None:
    check_outcome(lambda lib: CALLS[name](lib, use_reentrant))


def test_warnings() -> None:
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpoint(opweave.sin, matrix(opweave))
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpoint_sequential([opweave.sin], 1, matrix(opweave))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(opweave.sin, matrix(opweave).detach(), use_reentrant=True)


@BOTH
@pytest.mark.parametrize("within", [False, True])
def test_the_function_is_called_again_under_the_same_autocast(use_reentrant: bool, within: bool) -> None:
    x, weight = opweave.ones(2, 2, requires_grad=True), opweave.ones(2, 2, requires_grad=True)
    dtypes = []

    def function(x: Any) -> Any:
        product = x @ weight
        dtypes.append(product.dtype)
        return product * product

    with opweave.autocast("cpu", dtype=opweave.bfloat16, enabled=within):
        result = checkpoint(function, x, use_reentrant=use_reentrant)
    with opweave.autocast("cpu", dtype=opweave.bfloat16, enabled=not within):
        result.sum().backward()
    assert dtypes == [opweave.bfloat16 if within else opweave.float32] * 2
    assert x.grad.tolist() == [[8, 8], [8, 8]]
