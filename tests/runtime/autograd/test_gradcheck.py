"""gradcheck and gradgradcheck: what they accept, what they find, and that torch says the same."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import opweave
import pytest
from derivatives import check_outcome
from harness.oracle import Call
from opweave.autograd import gradcheck, gradgradcheck
from opweave.autograd.gradcheck import GradcheckError


def values(library: Any, *shape: int, complex: bool = False) -> Any:
    """Numbers between 0.5 and 2 in no order, that require gradients."""
    count = 1
    for size in shape:
        count *= size
    numbers: list[Any] = [0.5 + (7 * index % 11) / 7.5 for index in range(count)]
    if complex:
        numbers = [number - 0.3j * index for index, number in enumerate(numbers, 1)]
    dtype = library.complex128 if complex else library.float64
    return library.tensor(numbers, dtype=dtype).reshape(shape).requires_grad_()


def wrong(library: Any) -> Any:
    """A square with half as much gradient again as it has."""

    class Wrong(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * x * 3

    return Wrong.apply


def unconjugated(library: Any) -> Any:
    """A product whose gradients lack the conjugate that complex numbers need."""

    class Unconjugated(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    return Unconjugated.apply


def constant_gradient(library: Any) -> Any:
    """The identity for one number, with a gradient that is one whatever that of the output."""

    class Ones(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return library.ones_like(grad)

    return Ones.apply


def unsteady(library: Any) -> Any:
    """The identity with a gradient that grows a little from call to call."""
    calls = [0]

    class Unsteady(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            calls[0] += 1
            return grad * (1 + 1e-9 * calls[0])

    return Unsteady.apply


def unaware_of_none(library: Any) -> Any:
    """The identity with a gradient that must be a tensor."""

    class Unaware(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if grad is None:
                raise RuntimeError("no gradient")
            return grad.clone()

    return Unaware.apply


def transposed_gradient(library: Any) -> Any:
    """The identity with a gradient of another shape."""

    class Transposed(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.t()

    return Transposed.apply


CORRECT: dict[str, Call] = {
    "one input": lambda lib: (lib.sin, values(lib, 2, 3)),
    "two inputs": lambda lib: (lib.mul, (values(lib, 2, 3), values(lib, 3))),
    "a list": lambda lib: (lambda x, y: [x + y, x * y], [values(lib, 2), values(lib, 2)]),
    "several outputs": lambda lib: (lambda x, y: (x * y, x.exp(), y.sum()), (values(lib, 2), values(lib, 2))),
    "an input that needs none": lambda lib: (lib.mul, (values(lib, 2), values(lib, 2).detach())),
    "an unused input": lambda lib: (lambda x, y: x * 2, (values(lib, 2), values(lib, 3))),
    "a number": lambda lib: (lambda x, n: x * n, (values(lib, 2), 3)),
    "a view": lambda lib: (lambda x: x.t(), values(lib, 2, 3)),
    "a transposed input": lambda lib: (lib.exp, values(lib, 3, 2).detach().t().requires_grad_()),
    "no dimension": lambda lib: (lib.exp, values(lib)),
    "nothing": lambda lib: (lib.exp, values(lib, 0, 2)),
    "a constant": lambda lib: (lambda x: lib.ones(2), values(lib, 2)),
    "complex": lambda lib: (lib.mul, (values(lib, 2, complex=True), values(lib, 2, complex=True))),
    "complex to real": lambda lib: (lib.abs, values(lib, 3, complex=True)),
    "real to complex": lambda lib: (lambda x: x * (2 + 1j), values(lib, 3)),
    "one complex output": lambda lib: (lambda x: (x * 1j, x.abs()), values(lib, 2, complex=True)),
}

WRONG: dict[str, Call] = {
    "gradient": lambda lib: (wrong(lib), values(lib, 2)),
    "one of two": lambda lib: (lambda x, y: (x * y, wrong(lib)(y)), (values(lib, 2), values(lib, 2))),
    "complex gradient": lambda lib: (wrong(lib), values(lib, 2, complex=True)),
    "conjugate": lambda lib: (unconjugated(lib), (values(lib, 2, complex=True), values(lib, 2, complex=True))),
    "not multiplied": lambda lib: (constant_gradient(lib), values(lib, 1)),
    "constant": lambda lib: (constant_gradient(lib), values(lib, 2)),
    "no history": lambda lib: (lambda x: x.detach() * 2, values(lib, 2)),
    "no history, complex": lambda lib: (lambda x: x.detach() * 2j, values(lib, 2, complex=True)),
    "changes": lambda lib: (unsteady(lib), values(lib, 2)),
    "undefined": lambda lib: (unaware_of_none(lib), values(lib, 2)),
    "imprecise": lambda lib: (lib.sin, lib.tensor([0.3, 1.1], requires_grad=True)),
}

MISUSED: dict[str, Call] = {
    "nothing to check": lambda lib: lib.autograd.gradcheck(lib.sin, lib.ones(3)),
    "shared memory": lambda lib: lib.autograd.gradcheck(lib.sin, lib.ones(1).double().expand(3).requires_grad_()),
    "no mode": lambda lib: lib.autograd.gradcheck(lib.sin, values(lib, 1), check_backward_ad=False),
    "batches, not backward": lambda lib: lib.autograd.gradcheck(
        lib.sin, values(lib, 1), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True
    ),
    "batches, not forward": lambda lib: lib.autograd.gradcheck(
        lib.sin, values(lib, 1), check_batched_forward_grad=True
    ),
    "no mode, twice": lambda lib: lib.autograd.gradgradcheck(lib.sin, values(lib, 1), check_rev_over_rev=False),
    "undefined, not backward": lambda lib: lib.autograd.gradgradcheck(
        lib.sin, values(lib, 1), check_rev_over_rev=False, check_fwd_over_rev=True
    ),
    "another shape": lambda lib: lib.autograd.gradcheck(lambda x: x[x < 0.5], values(lib, 2)),
    "gradient of another shape": lambda lib: lib.autograd.gradcheck(transposed_gradient(lib), values(lib, 2, 3)),
}

ONCE = ("a constant", "no history", "no history, complex", "changes", "imprecise")
"""What gradgradcheck of torch cannot call, as nothing requires gradients; what depends on calls, or on rounding."""

OPTIONS: list[dict[str, Any]] = [{}, {"fast_mode": True}, {"check_undefined_grad": False}, {"check_batched_grad": True}]


def check(call: Call, library: Any, **options: Any) -> Any:
    function, inputs = call(library)
    return library.autograd.gradcheck(function, inputs, **options)


def check_twice(call: Call, library: Any, **options: Any) -> Any:
    function, inputs = call(library)
    return library.autograd.gradgradcheck(function, inputs, **options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", CORRECT)
def test_right_gradients(name: str, options: dict[str, Any]) -> None:
    assert check(CORRECT[name], opweave, **options) is True


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("name", CORRECT)
def test_right_second_gradients(name: str, fast_mode: bool) -> None:
    assert check_twice(CORRECT[name], opweave, fast_mode=fast_mode) is True


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_gradients(name: str, fast_mode: bool) -> None:
    with pytest.raises(GradcheckError):
        check(WRONG[name], opweave, fast_mode=fast_mode)
    assert check(WRONG[name], opweave, fast_mode=fast_mode, raise_exception=False) is False


def test_message_shows_both_jacobians() -> None:
    with pytest.raises(GradcheckError) as caught:
        gradcheck(wrong(opweave), opweave.tensor([1.0, 2.0], dtype=opweave.float64, requires_grad=True))
    assert str(caught.value) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 4.0000]], dtype=opweave.float64)\n"
        "analytical:tensor([[3., 0.],\n        [0., 6.]], dtype=opweave.float64)\n"
    )


def test_message_of_fast_mode_shows_them_as_well() -> None:
    x = opweave.tensor([1, 2], dtype=opweave.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match=r"(?s)Jacobian mismatch.*Analytical:\ntensor\(\[\[3.* is: 1.99"):
        gradcheck(wrong(opweave), x, fast_mode=True)


def test_message_names_output_and_input() -> None:
    def second(x: Any, y: Any) -> Any:
        return x * y, y.sin() * wrong(opweave)(x)

    with pytest.raises(GradcheckError, match="for output 1 with respect to input 0,"):
        gradcheck(second, (values(opweave, 2), values(opweave, 2)))


def test_second_gradient_that_is_missing() -> None:
    def without_history(x: Any) -> Any:
        return x * x.detach()

    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(without_history, values(opweave, 2))

    class Once(opweave.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 2 * x.detach()

    assert gradcheck(Once.apply, values(opweave, 2))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(Once.apply, values(opweave, 2))


def test_gradients_of_outputs_may_be_given() -> None:
    x, grad = values(opweave, 2), values(opweave, 2)
    assert gradgradcheck(opweave.sin, x, grad)
    assert gradgradcheck(opweave.sin, x, grad.detach())
    assert gradgradcheck(opweave.sin, (x,), gen_non_contig_grad_outputs=True)


@pytest.mark.parametrize("complex", [False, True])
def test_inputs_are_as_before(complex: bool) -> None:
    x = values(opweave, 2, 3, complex=complex)
    before = x.tolist()
    assert gradcheck(opweave.exp, x)
    assert x.tolist() == before
    assert x.grad is None
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: x / (1 // int(abs(x[0, 0].item()) == abs(before[0][0]))), x)
    assert x.tolist() == before


def test_default_generator_is_as_before() -> None:
    opweave.manual_seed(0)
    before = opweave.get_rng_state()
    assert gradcheck(opweave.exp, values(opweave, 2), fast_mode=True)
    assert opweave.equal(opweave.get_rng_state(), before)


def test_warns_of_single_precision() -> None:
    x = opweave.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(opweave.exp, x, eps=1e-2, atol=1e-2)


def test_tolerances() -> None:
    def nearly(x: Any) -> Any:
        return x * x + 1e-3 * x.detach()

    assert gradcheck(nearly, values(opweave, 2), atol=1e-2)
    assert not gradcheck(nearly, values(opweave, 2), rtol=1e-6, raise_exception=False)
    assert gradcheck(unsteady(opweave), values(opweave, 2), nondet_tol=1e-6)


def test_module_and_function_have_one_name() -> None:
    imports = "import opweave; from opweave.autograd.gradcheck import GradcheckError; x = opweave.ones(1).double()"
    call = "assert opweave.autograd.gradcheck(opweave.sin, x.requires_grad_())"
    subprocess.run([sys.executable, "-c", f"{imports}; {call}"], check=True)


class WrongTangent(opweave.autograd.Function):
    """The sine, of which the forward derivative is that of another function: its body is not that of its backward."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * ctx.saved_tensors[0].cos() * 2


@pytest.mark.parametrize("options", [{}, {"fast_mode": True}, {"check_backward_ad": False}])
def test_forward_derivatives(options: dict[str, Any]) -> None:
    for name, call in CORRECT.items():
        if name not in ("a constant",):
            function, inputs = call(opweave)
            assert gradcheck(function, inputs, check_forward_ad=True, **options), name
    assert gradgradcheck(opweave.tanh, values(opweave, 2), check_fwd_over_rev=True, fast_mode=True)
    assert gradcheck(WrongTangent.apply, values(opweave, 2), check_forward_ad=True, check_backward_ad=False)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(WrongTangent.apply, values(opweave, 2), check_forward_ad=True)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch for output 0 with respect to input"):
        gradcheck(lambda x: x.detach() * 2, values(opweave, 2), check_forward_ad=True)
    with pytest.raises(NotImplementedError, match="leave check_batched_forward_grad out"):
        gradcheck(opweave.sin, values(opweave, 2), check_forward_ad=True, check_batched_forward_grad=True)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", [*CORRECT, *WRONG])
def test_as_torch(name: str, options: dict[str, Any]) -> None:
    call = (CORRECT | WRONG)[name]
    check_outcome(lambda lib: check(call, lib, **options))


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in [*CORRECT, *WRONG] if name not in ONCE])
def test_twice_as_torch(name: str) -> None:
    call = (CORRECT | WRONG)[name]
    check_outcome(lambda lib: check_twice(call, lib))


@pytest.mark.oracle
@pytest.mark.parametrize("name", MISUSED)
def test_misuse_as_torch(name: str) -> None:
    check_outcome(MISUSED[name])
