"""The text of a sparse tensor: those of the tensors that it consists of, as torch prints them."""

from __future__ import annotations

from typing import Any

from .._base.devices import CPU, has_values
from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.types import sparse_coo
from .printing import PrintOptions, append_suffixes, get_printoptions, history_suffixes, values_text

__all__ = ["sparse_text"]

_PREFIX = "tensor("


def sparse_text(t: Any, contents: str | None = None) -> str:
    """`repr(t)`; `contents` replaces the tensors that it consists of."""
    options, indent = PrintOptions(**get_printoptions()), len(_PREFIX)
    if contents is None:
        parts = [_part(name, part.detach(), indent, options) for name, part in t._sparse.parts]
        contents = (",\n" + " " * indent).join(parts)
    is_coo = t.layout is sparse_coo  # whose suffixes begin on a line of their own
    return append_suffixes(_PREFIX + contents, _suffixes(t), indent, options.linewidth, is_coo)


def _part(name: str, t: Any, indent: int, options: PrintOptions) -> str:
    prefix = f"{name}=tensor("
    text = values_text(t, indent + len(prefix), options) if has_values(t) else "..."
    size = f", size={tuple(t.shape)}" if not (has_values(t) and t.numel()) else ""
    return f"{prefix}{text}{size})"


def _suffixes(t: Any) -> list[str]:
    default = get_default_dtype()
    usual = (default, default.to_complex(), EXPORTS["int64"], EXPORTS["bool"])
    parts = [] if t.device == CPU else [f"device='{t.device}'"]
    parts.append(f"size={tuple(t.shape)}")
    if has_values(t):
        parts.append(f"nnz={t._nnz()}")
    if t.dtype not in usual:
        parts.append(f"dtype={t.dtype}")
    return [*parts, f"layout={t.layout}", *history_suffixes(t)]
