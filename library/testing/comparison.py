"""Tensors, numbers, and sequences and mappings of them that are equal up to rounding errors."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from .._base.devices import has_values
from .._base.dtypes import EXPORTS
from .._base.tensor_class import Tensor
from .._base.types import strided
from .._base.warn import warn
from .._tensor.construct import as_tensor

__all__ = ["assert_allclose", "assert_close"]

_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""The relative and absolute tolerances by dtype; zero for all others."""


@dataclass(frozen=True)
class _Options:
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool
    message: Any
    path: tuple[Any, ...] = ()

    def at(self, key: Any) -> _Options:
        return replace(self, path=(*self.path, key))

    def tolerances(self, *dtypes: Any) -> tuple[float, float]:
        """Return the given tolerances, or the larger ones of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [_TOLERANCES.get(str(dtype).rpartition(".")[2], (0.0, 0.0)) for dtype in dtypes]
        return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)

    def fail(self, text: str) -> NoReturn:
        if self.path:
            text += f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in self.path)}"
        if callable(self.message):
            text = self.message(text)
        elif self.message is not None:
            text = self.message
        raise AssertionError(text)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless `abs(actual - expected) <= atol + rtol * abs(expected)` everywhere.

    Args:
        actual, expected: tensors, numbers, NumPy's arrays, or sequences or mappings of such.
        allow_subclasses (bool): whether the types may differ, if one is derived from the other.
        rtol, atol (float): both, or neither: those of the dtypes, for float32 1.3e-6 and 1e-5, for float64 1e-7.
        equal_nan (bool): whether two NaN are equal.
        check_device, check_dtype, check_layout, check_stride (bool): whether these must be the same.
        msg (str or Callable): the text of the error, or what makes it of the usual one.

    Raises:
        AssertionError: they are not close.
        TypeError: they are of other types.
        ValueError: only one of `rtol` and `atol` is given.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    options = _Options(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, msg
    )
    _compare(actual, expected, options)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The same as `assert_close`, which is to be used, without checks of device and dtype."""
    warn("`opweave.testing.assert_allclose()` is deprecated. Use `opweave.testing.assert_close()`.", FutureWarning)
    given = (each if isinstance(each, Tensor) else as_tensor(each) for each in (actual, expected))
    options: dict[str, Any] = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "msg": msg or None}
    assert_close(*given, check_device=False, check_dtype=False, check_stride=False, **options)


def _compare(actual: Any, expected: Any, options: _Options) -> None:
    if _are(actual, expected, Sequence) and not _are(actual, expected, str):
        if len(actual) != len(expected):
            options.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for place, pair in enumerate(zip(actual, expected, strict=True)):
            _compare(*pair, options.at(place))
    elif _are(actual, expected, Mapping):
        missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or more:
            options.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing)}\n"
                f"Additional keys in the actual mapping: {sorted(more)}"
            )
        for key in sorted(expected, key=str):
            _compare(actual[key], expected[key], options.at(key))
    elif actual is None or expected is None:
        if actual is not expected:
            options.fail(f"None mismatch: {actual} is not {expected}")
    elif _are(actual, expected, bool):
        if actual is not expected:
            options.fail(f"Booleans mismatch: {actual} is not {expected}")
    elif all(isinstance(each, (int, float, complex)) for each in (actual, expected)):
        _compare_numbers(actual, expected, options)
    else:
        _compare_tensors(*_tensors(actual, expected, options), options)


def _are(actual: Any, expected: Any, kind: Any) -> bool:
    return isinstance(actual, kind) and isinstance(expected, kind) and not isinstance(actual, Tensor)


def _tensors(actual: Any, expected: Any, options: _Options) -> tuple[Any, Any]:
    direct = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not direct or not (options.allow_subclasses or type(actual) is type(expected)):
        mixed = {type(each).__module__ for each in (actual, expected)}
        if "numpy" not in mixed or not all(_is_array(each) for each in (actual, expected)):
            raise TypeError(
                f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
            )
    if not all(_is_array(each) for each in (actual, expected)):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
    return tuple(each.detach() if isinstance(each, Tensor) else as_tensor(each) for each in (actual, expected))  # type: ignore[return-value]


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor) or type(value).__module__ == "numpy"


def _compare_numbers(actual: Any, expected: Any, options: _Options) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        options.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    dtypes = [EXPORTS[{int: "int64", float: "float64"}.get(type(each), "complex128")] for each in (actual, expected)]
    rtol, atol = options.tolerances(*dtypes)
    difference = abs(actual - expected)
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    if cmath.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    relative = difference / abs(expected) if expected else math.inf
    options.fail(_of_numbers(actual, expected, difference, relative, rtol, atol))


def _of_numbers(actual: Any, expected: Any, difference: Any, relative: Any, rtol: float, atol: float) -> str:
    if not rtol and not atol:
        head, limits = "Scalars are not equal!", ("", "")
    else:
        head, limits = "Scalars are not close!", (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    return (
        f"{head}\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{limits[0]}\nRelative difference: {relative}{limits[1]}"
    )


def _compare_tensors(actual: Any, expected: Any, options: _Options) -> None:
    def same(name: str, *pair: Any) -> None:
        if pair[0] != pair[1]:
            options.fail(f"The values for attribute '{name}' do not match: {pair[0]} != {pair[1]}.")

    same("shape", actual.shape, expected.shape)
    for wanted, name in (
        (options.check_layout, "layout"),
        (options.check_device, "device"),
        (options.check_dtype, "dtype"),
    ):
        if wanted:
            same(name, getattr(actual, name), getattr(expected, name))
    if not (actual.layout is expected.layout is strided):
        _compare_sparse(actual, expected, options)
        return
    if options.check_stride:
        same("stride()", actual.stride(), expected.stride())
    rtol, atol = options.tolerances(actual.dtype, expected.dtype)
    if actual.dtype is not expected.dtype:
        common = (actual.new_zeros(()) + expected.new_zeros(())).dtype
        actual, expected = actual.to(common), expected.to(common)
    if not has_values(actual) or actual.isclose(expected, rtol=rtol, atol=atol, equal_nan=options.equal_nan).all():
        return
    close = actual.isclose(expected, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(EXPORTS["int64"]), expected.to(EXPORTS["int64"])
    difference = (actual - expected).abs()
    relative = difference / expected.abs()
    if not close.ndim:
        one, other = actual.item(), expected.item()
        gap = abs(one - other)
        options.fail(_of_numbers(one, other, gap, gap / abs(other) if other else math.inf, rtol, atol))
    options.fail(_of_tensors(close, difference, relative, rtol, atol))


def _compare_sparse(actual: Any, expected: Any, options: _Options) -> None:
    """The tensors that sparse ones consist of; all elements where the layouts differ."""
    if actual.layout is not expected.layout:
        _compare_tensors(actual.to_dense(), expected.to_dense(), options)
        return
    if actual.is_sparse:
        actual, expected = actual.coalesce(), expected.coalesce()
    if actual._nnz() != expected._nnz():
        options.fail(
            f"The number of specified values in sparse {repr(actual.layout)[-3:].upper()} tensors does not match: "
            f"{actual._nnz()} != {expected._nnz()}"
        )
    for (name, part), (_, other) in zip(actual._sparse.parts, expected._sparse.parts, strict=True):
        _compare(part, other, options.at(name))


def _of_tensors(close: Any, difference: Any, relative: Any, rtol: float, atol: float) -> str:
    count, total = int((~close).sum().item()), close.numel()
    exact = not rtol and not atol
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!",
        "",
        f"Mismatched elements: {count} / {total} ({count / total:.1%})",
    ]
    for name, values, limit in (("absolute", difference, atol), ("relative", relative, rtol)):
        worst = values.masked_fill(close, 0)
        place = int(worst.argmax().item())
        index = []
        for size in reversed(close.shape):
            place, rest = divmod(place, size)
            index.append(rest)
        position = tuple(reversed(index))
        shown = "" if exact else f" (up to {limit} allowed)"
        lines.append(f"Greatest {name} difference: {worst[position].item()} at index {position}{shown}")
    return "\n".join(lines)
