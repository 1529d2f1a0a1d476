"""Jacobians and Hessians of functions, a row for each backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _operators
from ..._autograd.grad_mode import enable_grad
from .arguments import (
    OUTPUTS,
    Tensors,
    check_requires_grad,
    finished,
    fresh,
    gradients,
    tensors_of,
    unpacked_twice,
)
from .forward import Forward

__all__ = ["hessian", "jacobian", "unit_gradients"]

_STRATEGIES = ("forward-mode", "reverse-mode")


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of all elements of the outputs of `func` by all elements of its inputs.

    For one output and one input a tensor whose shape is that of the output followed by that of the input; where
    `inputs`, or the result of `func`, is a tuple, a tuple of these; `result[i][j]`, of output i by input j, where both
    are. The dtype is that of the input.

    * `create_graph`: whether the result has a history.
    * `strict`: refuse outputs that do not depend on an input, where the derivatives are zero otherwise.
    * `vectorize`: pass the gradients of all elements through the graph as one batch.
    * `strategy`: "reverse-mode", or "forward-mode", by tangents of the inputs, with `vectorize` alone.

    Raises TypeError for what is no tensor, RuntimeError for complex outputs (unless `vectorize`), NotImplementedError
    for "forward-mode" without `vectorize` or with `create_graph`.
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _by_tangents(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        inputs_are_tuple, arguments = tensors_of(inputs, "inputs", "jacobian")
        arguments = fresh(arguments, create_graph, True)
        outputs_are_tuple, outputs = tensors_of(func(*arguments), OUTPUTS, "jacobian")
        if strict:
            check_requires_grad(outputs, "outputs")
        if vectorize and strict:
            raise RuntimeError(
                "opweave.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        if vectorize:
            derivatives = _batches(outputs, arguments, create_graph)
        else:
            derivatives = [
                _rows(index, output, arguments, create_graph, strict) for index, output in enumerate(outputs)
            ]
        derivatives = [finished(of_output, create_graph) for of_output in derivatives]
    return unpacked_twice(derivatives, outputs_are_tuple, inputs_are_tuple)


def _by_tangents(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    """The Jacobians, a column for each element of an input."""
    apart = (
        'opweave.autograd.functional.jacobian: `{0}=True` and `strategy="forward-mode"` are not supported together. '
        'Please either set `{0}=False` or `strategy="reverse-mode"`.'
    )
    if strict:
        raise RuntimeError(apart.format("strict"))
    if create_graph:
        raise NotImplementedError(apart.format("create_graph"))
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD is only implemented for `vectorize=True`.")
    inputs_are_tuple, given = tensors_of(inputs, "inputs", "jacobian")
    arguments = fresh(given, False, False)
    zeros = [argument.new_zeros(argument.shape) for argument in arguments]
    columns: list[list[Forward]] = []
    outputs_are_tuple = False

    def listed(*tensors: Any) -> Any:
        nonlocal outputs_are_tuple
        outputs_are_tuple, outputs = tensors_of(func(*tensors), OUTPUTS, "jacobian")
        return outputs

    for place, argument in enumerate(arguments):
        [units] = unit_gradients((argument,), [argument.numel()])
        steps = [(*zeros[:place], unit, *zeros[place + 1 :]) for unit in units]
        columns.append([Forward(listed, arguments, step, False, "jacobian(f, inputs)") for step in steps])
    any_of_them = next((of_input[0] for of_input in columns if of_input), None)
    outputs = (any_of_them or Forward(listed, arguments, zeros, False, "jacobian(f, inputs)")).outputs
    rows = [
        tuple(
            _operators.stack([each.tangents[index] for each in of_input], -1).reshape((*output.shape, *argument.shape))
            if of_input else output.new_zeros((*output.shape, *argument.shape))
            for of_input, argument in zip(columns, arguments, strict=True)
        )
        for index, output in enumerate(outputs)
    ]  # fmt: skip
    return unpacked_twice(rows, outputs_are_tuple, inputs_are_tuple)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of the one number that `func` returns: the Jacobian of its Jacobian.

    For one input a tensor whose shape is twice that of the input; for a tuple a tuple of tuples, `result[i][j]` by the
    inputs i and j. Options and errors are those of `jacobian`; RuntimeError also when `func` returns anything but one
    number.
    """
    is_tuple, arguments = tensors_of(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in _STRATEGIES:
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def number(*tensors: Any) -> Any:
        result = func(*tensors)
        result_is_tuple, outputs = tensors_of(result, OUTPUTS, "hessian")
        if strict:
            check_requires_grad(outputs, "outputs")
        if result_is_tuple:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if result.numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return result.squeeze()

    def gradient(*tensors: Any) -> Any:
        result = jacobian(number, tensors, create_graph=True)
        if strict:
            check_requires_grad(result, "jacobian")
        return result

    rows = jacobian(gradient, arguments, create_graph, strict, vectorize, outer_jacobian_strategy)
    return unpacked_twice(rows, is_tuple, is_tuple)


def _rows(number: int, output: Any, arguments: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of an output by all inputs, from a backward pass for each element."""
    if output.is_complex():
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
    rows: list[list[Any]] = [[] for _ in arguments]
    for cotangent in unit_gradients((output,), [output.numel()])[0]:
        by_input = gradients((output,), arguments, (cotangent,), retain_graph=True, create_graph=create_graph)
        for index, (of_input, row, argument) in enumerate(zip(rows, by_input, arguments, strict=True)):
            if strict and row is None:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {index}. This is not "
                    "allowed in strict mode."
                )
            if strict and create_graph and not row.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {index}. This is not allowed "
                    "in strict mode when create_graph=True."
                )
            of_input.append(argument.new_zeros(argument.shape) if row is None else row)
    return tuple(
        _operators.stack(of_input).view(output.shape + argument.shape)
        for of_input, argument in zip(rows, arguments, strict=True)
    )


def _batches(outputs: Tensors, arguments: Tensors, create_graph: bool) -> list[Tensors]:
    """The same for all outputs from one pass of a batch of gradients, one for each element."""
    counts = [output.numel() for output in outputs]
    by_input: Sequence[Any] = (None,) * len(arguments)
    if sum(counts):
        cotangents = unit_gradients(outputs, counts)
        by_input = gradients(outputs, arguments, cotangents, create_graph=create_graph, is_grads_batched=True)
    blocks = [
        (argument.new_zeros((sum(counts), *argument.shape)) if rows is None else rows).split(counts)
        for rows, argument in zip(by_input, arguments, strict=True)
    ]
    return [
        tuple(
            of_input[index].reshape(output.shape + argument.shape)
            for of_input, argument in zip(blocks, arguments, strict=True)
        )
        for index, output in enumerate(outputs)
    ]


def unit_gradients(outputs: Tensors, counts: list[int]) -> list[Any]:
    """Return for each element of all outputs the gradients that are one there and zero elsewhere: a tensor for each
    output."""
    matrices = [output.new_zeros((sum(counts), count)) for output, count in zip(outputs, counts, strict=True)]
    start = 0
    for matrix, count in zip(matrices, counts, strict=True):
        matrix.narrow(0, start, count).diagonal().fill_(1)
        start += count
    return [matrix.view((sum(counts), *output.shape)) for matrix, output in zip(matrices, outputs, strict=True)]
