"""gradcheck and gradgradcheck: gradients that backward computes beside differences of function values.

The comparisons are those of torch.autograd.gradcheck: whole Jacobians, or with `fast_mode` one random combination of
their elements.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..._autograd.backward_api import grad
from ..._ops.numpy_bridge import dtypes
from ..._tensor.tensor import Tensor
from . import backward_checks
from .compare import Comparison, Elements, RandomVectors
from .forward_checks import check_forward
from .jacobians import GradcheckError, as_tuple, differentiable
from .sparse_values import of_values

if TYPE_CHECKING:
    from .jacobians import Function

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

_PRECISE = (dtypes.float64, dtypes.complex128)


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compares gradients of `func` with central differences of its values; True when they agree.

    `func` takes the tensors `inputs` (one, or a tuple) and returns one or several. Checked is each output that requires
    gradients, by each input that does. The tolerances suit inputs of double precision; others are warned of. Inputs are
    written to during the check, so none of their elements may share memory.

    * `eps`: how far elements are moved for the differences.
    * `atol`, `rtol`: tolerances as of `allclose`, for derivatives; the analytical ones are its first argument.
    * `raise_exception`: False returns False where GradcheckError would be raised.
    * `nondet_tol`: by how much two computations of the same gradient may differ.
    * `check_undefined_grad`: whether backward must treat undefined gradients of outputs as zeros.
    * `check_batched_grad`: whether gradients of a batch (`is_grads_batched`) must be those of its members.
    * `check_forward_ad`: whether forward derivatives are compared with the differences; `check_backward_ad`: whether
      gradients are.
    * `fast_mode`: compare v·J·u for random vectors u and v, by two calls of `func` for an input and one backward for an
      output, where the whole Jacobian takes as many as these have elements.
    * `check_grad_dtypes` and `masked` change nothing: dtypes are always compared, and gradients by sparse tensors are
      always those by the elements that these have in memory.

    Raises GradcheckError when a derivative is wrong, has another shape or dtype than its input, differs from one
    backward to the next, or when outputs change with the inputs and none of them requires gradients; ValueError when no
    input requires gradients; RuntimeError for inputs whose elements share memory; AssertionError for options that
    exclude each other; NotImplementedError for `check_batched_forward_grad`.
    """
    _check_modes(check_forward_ad, check_backward_ad, check_batched_grad, check_batched_forward_grad)
    func, arguments = of_values(func, as_tuple(inputs))
    targets = _checked_inputs(arguments)
    directions = RandomVectors() if fast_mode else Elements()
    try:
        if check_forward_ad:
            check_forward(func, arguments, eps, atol, rtol, directions)
        if not check_backward_ad:
            return True
        outputs = Comparison(func, arguments, eps, atol, rtol, nondet_tol, directions).run()
        if outputs and check_batched_grad:
            for index, output in enumerate(outputs):
                backward_checks.check_batches(output, index, targets)
        if outputs:
            backward_checks.check_zero_gradients(outputs, targets)
        if outputs and check_undefined_grad:
            backward_checks.check_undefined_gradients(func, arguments, targets)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Checks second derivatives: `gradcheck` of the gradients of `func`, by its inputs and by those of its outputs.

    `grad_outputs` are the gradients of the outputs (one, or a tuple); without them random ones are made, which do not
    lie in C order with `gen_non_contig_grad_outputs`. Everything else is as for `gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, wanted in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if wanted and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    func, arguments = of_values(func, as_tuple(inputs))
    if grad_outputs is None:
        outputs = differentiable(as_tuple(func(*arguments)))
        cotangents = tuple(_random_gradient(output, gen_non_contig_grad_outputs) for output in outputs)
    else:
        cotangents = as_tuple(grad_outputs)
    return gradcheck(
        # Where nothing has a gradient it is enough that nothing depends on the inputs, which gradcheck sees to.
        partial(_gradients, func, len(arguments)) if cotangents else func,
        arguments + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _gradients(func: Function, count: int, *arguments: Any) -> tuple[Any, ...]:
    """The gradients of `func`, a function of its inputs (the first arguments) and of the gradients of its outputs."""
    inputs, cotangents = arguments[:count], arguments[count:]
    outputs = differentiable(as_tuple(func(*inputs)))
    gradients = grad(outputs, differentiable(inputs), cotangents, create_graph=True, allow_unused=True)
    return tuple(gradient for gradient in gradients if gradient is not None)


def _random_gradient(output: Tensor, spread: bool) -> Tensor:
    """Numbers between −1 and 1 in the form of `output`; spread ones leave out every second element of their memory."""
    shape = (*output.shape, 2) if spread else tuple(output.shape)
    values = output.new_empty(shape)
    for part in (values.real, values.imag) if values.is_complex() else (values,):
        part.uniform_(-1, 1)
    return (values[..., 0] if spread else values).requires_grad_()


def _check_modes(forward: bool, backward: bool, batched: bool, batched_forward: bool) -> None:
    if not (forward or backward):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if batched and not backward:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if batched_forward and not forward:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    if batched_forward:
        raise NotImplementedError(
            "gradcheck(): batches of forward derivatives are not checked; leave check_batched_forward_grad out"
        )


def _checked_inputs(inputs: tuple[Any, ...]) -> list[Any]:
    """The inputs to differentiate by, whose memory may be written to element by element."""
    for index, value in enumerate(inputs):
        if not (isinstance(value, Tensor) and value.requires_grad):
            continue
        if value.dtype not in _PRECISE:
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if any(size > 1 and not stride for size, stride in zip(value.shape, value.stride(), strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    tensors = differentiable(inputs)
    if not tensors:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    return tensors


class _Module(ModuleType):
    """This module as its function: in the package both have the same name, and whichever comes last has it."""

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Module
