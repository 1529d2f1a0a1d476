"""Models run by the evaluator of the package onnx, and by onnxruntime where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import onnx
import opweave
from opweave.utils._pytree import tree_leaves


def tensors(value: Any) -> list[Any]:
    """The tensors in a nested value."""
    return [each for each in tree_leaves(value) if isinstance(each, opweave.Tensor)]


def assert_same(found: Any, wanted: Any) -> None:
    """Fail unless results are those that are wanted, but for the order of operations."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        digits = 1e-2 if other.dtype in (opweave.float16, opweave.bfloat16) else 1e-5
        assert opweave.allclose(one, other, rtol=digits, atol=digits, equal_nan=True), (one, other)


def assert_gives(program: Any, given: Any, wanted: Any, by_reference: bool = True) -> None:
    """Fail unless a model gives the results that are wanted for some tensors, by each of the evaluators."""
    if by_reference:
        assert_same(program(*given), wanted)
    if find_spec("onnxruntime") is not None:
        import onnxruntime

        session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
        named = {each.name: value.detach().numpy() for each, value in zip(session.get_inputs(), given, strict=True)}
        assert_same([opweave.tensor(each) for each in session.run(None, named)], wanted)


def exported(module: Any, args: tuple[Any, ...], **options: Any) -> Any:
    """The model of a module, whose results for the example are those of the module."""
    program = opweave.onnx.export(module, args, **options)
    onnx.checker.check_model(program.model_proto, full_check=False)
    assert_gives(program, tensors(args), [each.detach() for each in tensors(module(*args))])
    return program
