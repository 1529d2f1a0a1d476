"""The text of a Tensor, as PyTorch prints it, and the options that shape it.

Reads: a tensor through the small interface `Printable`, and the current `PrintOptions`.
Writes: one string (`tensor_text`). Only the elements that appear in the text are converted to Python numbers.
`Tensor.__repr__` imports the module when a tensor is first printed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import numbers
import operator
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Protocol

from .._base.type_names import type_name
from .._base.types import per_tensor_affine, per_tensor_symmetric

__all__ = ["PrintOptions", "get_printoptions", "printoptions", "set_printoptions", "tensor_text"]
_PACKAGE_NAMES = ["get_printoptions", "printoptions", "set_printoptions"]


class PrintableDtype(Protocol):
    """A dtype: `str(dtype)` is its qualified name, such as `opweave.float32`."""

    @property
    def is_floating_point(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...
    def to_real(self) -> PrintableDtype: ...


class Printable(Protocol):
    """The interface of a tensor that printing uses, with `is_meta`, `requires_grad` and `grad_fn` where they exist."""

    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def dtype(self) -> PrintableDtype: ...
    def numel(self) -> int: ...
    def tolist(self) -> Any: ...
    def __getitem__(self, index: Any, /) -> Printable: ...


# --- options -----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class PrintOptions:
    """Everything that decides how values become text."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

# Replaced as a whole, never modified: a text in progress on another thread keeps the options it began with.
_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed, for the whole process.

    Options left at None keep their value, except `sci_mode`, where None means automatic. Nothing changes when
    an argument is refused.

    Args:
        precision: digits after the decimal point (4).
        threshold: tensors with more elements than this are summarised (1000).
        edgeitems: elements shown at each end of a summarised dimension (3); 0 shows only the size.
        linewidth: characters per line (80).
        profile: start from `default`, `short` (2 digits, 2 edge items) or `full` (never summarise).
        sci_mode: scientific notation always (True), never (False) or chosen from the values (None).
    """
    global _options
    options = _options
    if profile is not None:
        if not isinstance(profile, str):
            raise TypeError(f"profile must be a string, got {type_name(profile)}")
        if profile not in _PROFILES:
            known = ", ".join(map(repr, _PROFILES))
            raise ValueError(f"unknown profile {profile!r}: expected one of {known}")
        options = _PROFILES[profile]
    if sci_mode is not None and not isinstance(sci_mode, bool):
        raise TypeError(f"sci_mode must be True, False or None, got {type_name(sci_mode)}")
    _options = PrintOptions(
        precision=options.precision if precision is None else _count("precision", precision),
        threshold=options.threshold if threshold is None else _limit("threshold", threshold),
        edgeitems=options.edgeitems if edgeitems is None else _count("edgeitems", edgeitems),
        linewidth=options.linewidth if linewidth is None else _count("linewidth", linewidth),
        sci_mode=sci_mode,
    )


def get_printoptions() -> dict[str, Any]:
    """The current options as a dictionary that `set_printoptions(**options)` accepts."""
    return dataclasses.asdict(_options)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Use other options inside a `with` block; takes the keywords of `set_printoptions`."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


def _count(name: str, value: Any) -> int:
    """`value` as a non-negative int."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {type_name(value)}")
    count = operator.index(value)
    if count < 0:
        raise ValueError(f"{name} must not be negative, got {count}")
    return count


def _limit(name: str, value: Any) -> float:
    """`value` as a number to compare with; infinity is allowed."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {type_name(value)}")
    if math.isnan(value):
        raise ValueError(f"{name} must be a number, got nan")
    return int(value) if isinstance(value, numbers.Integral) else float(value)


# --- text --------------------------------------------------------------------------------------------------


def tensor_text(t: Printable, *, default_dtype_name: str = "float32", contents: str | None = None) -> str:
    """`repr(t)`: prefix, values, and the suffixes that the values alone do not tell.

    `default_dtype_name` is the dtype whose suffix is left out (`float32`); `contents` replaces the values.
    """
    options = _options
    kind = type(t).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    is_quantized = getattr(t, "is_quantized", False)
    if contents is None:
        values: Any = t.dequantize() if is_quantized else t  # type: ignore[attr-defined]
        if _has_no_values(t):
            contents = "..."
        else:
            contents = values_text(values.cpu() if _device_suffixes(t) else values, len(prefix), options)
    suffixes = _suffixes_of_quantized(t) if is_quantized else _suffixes(t, default_dtype_name, options)
    return append_suffixes(prefix + contents, suffixes, len(prefix), options.linewidth)


def _has_no_values(t: Printable) -> bool:
    return bool(getattr(t, "is_meta", False))


def _device_suffixes(t: Printable) -> list[str]:
    where = str(getattr(t, "device", "cpu"))
    return [] if where == "cpu" else [f"device={where!r}"]


def _suffixes(t: Printable, default_dtype_name: str, options: PrintOptions) -> list[str]:
    """The `name=value` parts after the values, in the order in which they are printed."""
    parts = []
    dtype = str(t.dtype)
    dtype_name = dtype.rpartition(".")[2]
    shape = tuple(t.shape)
    parts += _device_suffixes(t)
    if _has_no_values(t):
        size_is_known = False
        dtype_is_known = dtype_name == default_dtype_name
    elif t.numel():
        size_is_known = options.edgeitems > 0
        # The complex dtype whose parts have the default dtype goes without saying too.
        part_name = str(t.dtype.to_real()).rpartition(".")[2]
        dtype_is_known = default_dtype_name in (dtype_name, part_name) or dtype_name in ("int64", "bool")
    else:
        # `[]` reads as a vector of the default dtype, whatever the tensor is.
        size_is_known = len(shape) == 1
        dtype_is_known = dtype_name == default_dtype_name
    if not size_is_known:
        parts.append(f"size={shape}")
    if not dtype_is_known:
        parts.append(f"dtype={dtype}")
    return parts + history_suffixes(t)


def history_suffixes(t: Printable) -> list[str]:
    """Return the suffixes of a printed tensor about its gradient and its names."""
    try:
        grad_fn = getattr(t, "grad_fn", None)
        name = None if grad_fn is None else type(grad_fn).__name__
    except RuntimeError:  # a view whose base was written to in a way that has no gradient
        name = "Invalid"
    if name is not None:
        parts = [f"grad_fn=<{name}>"]
    else:
        parts = ["requires_grad=True"] if getattr(t, "requires_grad", False) else []
    names = getattr(t, "names", ())
    if any(name is not None for name in names):
        parts.append(f"names={names}")
    return parts


def _suffixes_of_quantized(t: Any) -> list[str]:
    """The same for a quantized tensor, whose shape and dtype are always said."""
    parts = _device_suffixes(t)
    scheme = t.qscheme()
    parts += [f"size={tuple(t.shape)}", f"dtype={t.dtype}", f"quantization_scheme={scheme}"]
    if scheme in (per_tensor_affine, per_tensor_symmetric):
        return [*parts, f"scale={t.q_scale()}", f"zero_point={t.q_zero_point()}"]
    parts += [f"scale={t.q_per_channel_scales()}", f"zero_point={t.q_per_channel_zero_points()}"]
    return [*parts, f"axis={t.q_per_channel_axis()}"]


def append_suffixes(text: str, suffixes: list[str], indent: int, linewidth: int, breaks_first: bool = False) -> str:
    """Add the suffixes and the closing parenthesis, each on the current line if it fits there; the first on a line of
    its own if `breaks_first`."""
    # Two more characters than the last line has are counted, as in PyTorch: lines break there, not later.
    used = len(text) - (text.rfind("\n") + 1) + 2
    for suffix in suffixes:
        if breaks_first or used + len(suffix) + 2 > linewidth:
            breaks_first = False
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def values_text(t: Printable, indent: int, options: PrintOptions) -> str:
    """The values in brackets; continuation lines begin after `indent` characters."""
    count = t.numel()
    if count == 0:
        return "[]"
    shape = tuple(t.shape)
    ndim = len(shape)
    # The most elements shown along a dimension; longer ones are cut in the middle.
    shown = 2 * options.edgeitems if count > options.threshold else count
    if ndim and shown == 0:
        return "[...]"
    values = _shown_values(t, shown)
    for _ in range(ndim - 1):
        values = list(chain.from_iterable(values))
    if t.dtype.is_complex:
        texts, width = _complex_texts(values if ndim else [values], options)
    elif t.dtype.is_floating_point:
        texts, width = _float_texts(values if ndim else [values], options)
    else:
        texts = [str(value) for value in (values if ndim else [values])]
        width = max(map(len, texts))
    if not t.dtype.is_complex:
        texts = [text.rjust(width) for text in texts]
    if ndim == 0:
        return texts[0]
    per_line = max(1, (options.linewidth - (indent + ndim - 1)) // (width + len(", ")))
    return _bracketed(texts, shape, shown, indent, per_line)


def _shown_values(t: Printable, shown: int) -> Any:
    """`t.tolist()` without the middle of the dimensions that are longer than `shown`."""
    shape = t.shape
    if max(shape, default=0) <= shown:
        return t.tolist()
    length = shape[0]
    edge = shown // 2
    if len(shape) == 1:
        return t[:edge].tolist() + t[length - edge :].tolist()
    rows = range(length) if length <= shown else chain(range(edge), range(length - edge, length))
    return [_shown_values(t[row], shown) for row in rows]


def _float_texts(values: list[float], options: PrintOptions) -> tuple[list[str], int]:
    """The text of each value, unpadded, and the common width.

    Zeros, infinities and NaNs decide neither the notation nor the width, so a longer one sticks out.
    """
    isfinite = math.isfinite
    magnitudes = [abs(value) for value in values if value and isfinite(value)]
    if not magnitudes:
        whole, scientific = True, False
    else:
        whole = all(map(float.is_integer, magnitudes))
        if options.sci_mode is None:
            smallest, largest = min(magnitudes), max(magnitudes)
            scientific = largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4
        else:
            scientific = options.sci_mode
    if scientific:
        spec = f".{options.precision}e"
    elif whole:
        spec = ".0f"
    else:
        spec = f".{options.precision}f"
    texts = [format(value, spec) for value in values]
    if whole and not scientific:
        # The point tells a whole float from an integer; inf and nan need none.
        texts = [text + "." if isfinite(value) else text for text, value in zip(texts, values, strict=True)]
    widths = map(len, texts)
    regular = (width for width, value in zip(widths, values, strict=True) if value and isfinite(value))
    return texts, max(regular, default=1)


def _complex_texts(values: list[complex], options: PrintOptions) -> tuple[list[str], int]:
    """The same for complex numbers: real parts make a padded column, imaginary parts follow with their signs."""
    reals, real_width = _float_texts([value.real for value in values], options)
    imags, imag_width = _float_texts([value.imag for value in values], options)
    signed = (imag if imag[0] == "-" else "+" + imag for imag in imags)
    texts = [f"{real.rjust(real_width)}{imag}j" for real, imag in zip(reals, signed, strict=True)]
    return texts, real_width + imag_width + 1


def _bracketed(texts: list[str], shape: Sequence[int], shown: int, indent: int, per_line: int) -> str:
    """Join the texts of the shown elements, innermost dimension first, into nested brackets."""
    ndim = len(shape)
    last = ndim - 1
    for axis in range(last, -1, -1):
        # Each level of brackets pushes the next line one character to the right.
        margin = " " * (indent + axis + 1)
        length = min(shape[axis], shown)
        groups = [texts[start : start + length] for start in range(0, len(texts), length)]
        if shape[axis] > shown:
            for group in groups:
                group.insert(shown // 2, " ..." if axis == last else "...")
        if axis == last:
            separator = ",\n" + margin
            groups = [
                [", ".join(group[start : start + per_line]) for start in range(0, len(group), per_line)]
                for group in groups
            ]
        else:
            separator = "," + "\n" * (last - axis) + margin
        texts = ["[" + separator.join(group) + "]" for group in groups]
    return texts[0]
