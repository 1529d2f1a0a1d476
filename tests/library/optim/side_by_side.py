"""The same optimizer in two libraries, which get the same gradients: functions of the step, assigned by hand."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

SHAPES = ((3, 4), (5,), ())


def parameters(library: ModuleType, dtype: str, shapes: Sequence[tuple[int, ...]] = SHAPES) -> list[Any]:
    return [tensor(library, np.cos(np.arange(np.prod(shape, dtype=int)) + k).reshape(shape), dtype).requires_grad_()
            for k, shape in enumerate(shapes)]  # fmt: skip


def tensor(library: ModuleType, values: Any, dtype: str) -> Any:
    return library.tensor(np.asarray(values).tolist(), dtype=getattr(library, dtype))


def assign_gradients(library: ModuleType, given: Sequence[Any], dtype: str, step: int) -> None:
    """Of any sign and size; the last parameter has none in every third step."""
    for k, parameter in enumerate(given):
        positions = np.arange(np.prod(tuple(parameter.shape), dtype=int)).reshape(tuple(parameter.shape))
        values = np.sin(step * (k + 1) + 2.0 * positions) * 10.0 ** np.cos(0.3 * step + positions)
        missing = k == len(given) - 1 and step % 3 == 2
        parameter.grad = None if missing else tensor(library, values, dtype)


def take_steps(library: ModuleType, optimizer: Any, dtype: str, steps: range) -> None:
    given = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for step in steps:
        assign_gradients(library, given, dtype, step)
        optimizer.step()


def plain(value: Any) -> Any:
    """Tensors, wherever they are, as NumPy's arrays."""
    if hasattr(value, "detach"):
        return value.detach().numpy().copy()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(each) for each in value)
    return value


def converted(value: Any, library: ModuleType) -> Any:
    """NumPy's arrays, wherever they are, as tensors of the library."""
    if isinstance(value, np.ndarray):
        return tensor(library, value, str(value.dtype))
    if isinstance(value, dict):
        return {key: converted(each, library) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(converted(each, library) for each in value)
    return value


def assert_close(results: Any, expected: Any, tolerance: float, path: str = "") -> None:
    """The same structure, dtypes and shapes; numbers within the tolerance of the largest in their array."""
    if isinstance(expected, dict):
        assert set(results) == set(expected), path
        for key in expected:
            assert_close(results[key], expected[key], tolerance, f"{path}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert type(results) is type(expected), path
        assert len(results) == len(expected), path
        for index, (one, other) in enumerate(zip(results, expected, strict=True)):
            assert_close(one, other, tolerance, f"{path}[{index}]")
    elif isinstance(expected, np.ndarray):
        assert (results.dtype, results.shape) == (expected.dtype, expected.shape), path
        scale = np.abs(expected).max(initial=1e-300)
        np.testing.assert_allclose(results, expected, rtol=tolerance, atol=tolerance * scale, err_msg=path)
    elif isinstance(expected, float):
        assert results == expected or abs(results - expected) <= tolerance * abs(expected), path
    else:
        assert results == expected, path
