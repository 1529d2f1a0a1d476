"""Comparison of the results of a trace with those of the program and of another trace."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from textwrap import indent
from typing import TYPE_CHECKING, Any

from .._autograd.grad_mode import no_grad
from .._base.tensor_class import Tensor
from .._base.warn import warn
from ..testing import assert_close
from ._state import TracerWarning

if TYPE_CHECKING:
    from ..fx.graph import Graph

__all__ = ["TracingCheckError", "check"]

_SINGLE = 1e-5
"""The absolute error that is no difference."""


class TracingCheckError(Exception):
    """Two traces of a program are different.

    Args:
        graph_diff_error (str): where the graphs differ, or None.
        tensor_compare_error (str): where constants differ, or None.
        extra_msg (str): what is said before, or None.
    """

    __module__ = "opweave.jit._trace"

    def __init__(
        self, graph_diff_error: str | None, tensor_compare_error: str | None, extra_msg: str | None = None
    ) -> None:
        message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            message += f"{extra_msg}\n"
        if graph_diff_error is not None:
            message += "ERROR: Graphs differed across invocations!\n" + indent(graph_diff_error, "\t") + "\n"
        if tensor_compare_error is not None:
            message += (
                "ERROR: Tensor-valued Constant nodes differed in value across invocations. This often indicates that "
                "the tracer has encountered untraceable code.\n" + indent(tensor_compare_error, "\t") + "\n"
            )
        self.message = message
        super().__init__(message)


def check(
    function: Callable[..., Any],
    traced: Callable[..., Any],
    first: tuple[Graph, dict[str, Any]],
    again: tuple[Graph, dict[str, Any]],
    inputs: Any,
    tolerance: float,
) -> None:
    """Warns where results of a trace are not those of the program.

    Args:
        function (Callable): the program.
        traced (Callable): the trace.
        first (tuple): its graph and its constants.
        again (tuple): those of another trace.
        inputs (tuple | dict): the arguments.
        tolerance (float): the relative error that is no difference.

    Raises:
        TracingCheckError: the graphs or the constants differ, or the trace does not run.
    """
    with no_grad():
        differences = _differences(first, again)
        results = []
        for run, what in ((traced, "trace"), (function, "Python function")):
            try:
                result = _call(run, inputs)
                results.append(result if isinstance(result, tuple) else (result,))
            except Exception as error:
                message = (
                    f"encountered an exception while running the {what} with test inputs.\nException:\n"
                    f"{indent(str(error), chr(9))}"
                )
                raise TracingCheckError(*differences, extra_msg=message) from error
        _compare(results[0], results[1], tolerance)
    if any(each is not None for each in differences):
        raise TracingCheckError(*differences)


def _call(function: Callable[..., Any], inputs: Any) -> Any:
    given = _cloned(inputs)
    return function(**given) if isinstance(given, dict) else function(*given)


def _cloned(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: _cloned(each) for key, each in value.items()}
    parts = list(map(_cloned, value))
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def _compare(results: Sequence[Any], expected: Sequence[Any], tolerance: float) -> None:
    for number, (one, other) in enumerate(zip(results, expected, strict=False)):
        if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
            continue
        try:
            assert_close(one, other, rtol=tolerance, atol=_SINGLE, equal_nan=True, check_dtype=False)
        except AssertionError as error:
            warn(
                f"Output nr {number + 1}. of the traced function does not match the corresponding output of the Python "
                f"function. Detailed error:\n{error}",
                TracerWarning,
            )


def _differences(
    first: tuple[Graph, dict[str, Any]], again: tuple[Graph, dict[str, Any]]
) -> tuple[str | None, str | None]:
    lines, others = ([*f"{graph}\n".splitlines(True)] for graph, _ in (first, again))
    graphs = constants = None
    if lines != others:
        graphs = f"Graph diff:\n{indent(''.join(difflib.ndiff(lines, others)), chr(9))}"
    for name, value in again[1].items():
        try:
            assert_close(first[1].get(name), value, equal_nan=True)
        except AssertionError as error:
            constants = f"Node:\n{indent(name, chr(9))}\nComparison exception: {indent(str(error), chr(9))}"
            break
    return graphs, constants
