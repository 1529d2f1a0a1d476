"""The table of dtypes for C (include/ow_dtypes.h), for Python (_dtypes.py) and for type checkers (_dtype_names.pyi)."""

from __future__ import annotations

from ..dtypes import DTYPES, DType, Kind, promote
from .text import render

_TABLE = "codegen/dtypes.py"


def _bound(dtype: DType, highest: bool) -> str:
    if dtype.is_floating or dtype.is_complex:
        return "0"
    if dtype.kind is Kind.SIGNED:
        return f"INT{dtype.bits}_{'MAX' if highest else 'MIN'}"
    # Only the bits matter: the largest uint64 is written as -1.
    return f"(int64_t)UINT64_C({dtype.highest})" if highest else "0"


def _c_kind(dtype: DType) -> str:
    return "OW_KIND_INTEGER" if dtype.is_integer else f"OW_KIND_{dtype.kind.name}"


def emit_header() -> str:
    rows = [
        {
            "enum": f"OW_{dtype.name.upper()}",
            "name": dtype.name,
            "scalar_name": dtype.scalar_name,
            "size": dtype.itemsize,
            "kind": _c_kind(dtype),
            "compute": f"OW_{dtype.opmath.name.upper()}",
            "to_real": f"OW_{dtype.to_real.name.upper()}",
            "to_complex": f"OW_{dtype.to_complex.name.upper()}",
            "alignment": dtype.to_real.itemsize,
            "lowest": _bound(dtype, highest=False),
            "highest": _bound(dtype, highest=True),
            "promotions": [f"OW_{promote(dtype, other).name.upper()}" for other in DTYPES.values()],
        }
        for dtype in DTYPES.values()
    ]
    return render("dtypes.h.j2", _TABLE, "ow_dtypes.h", dtypes=rows)


def emit_python() -> str:
    rows = [
        (d.name, d.code, d.itemsize, d.kind.value, d.numpy, d.aliases, d.scalar_name, d.method) for d in DTYPES.values()
    ]
    return render("dtypes.py.j2", _TABLE, "_dtypes.py", rows=rows)


def names() -> list[str]:
    """Every name of every dtype."""
    return [name for dtype in DTYPES.values() for name in (dtype.name, *dtype.aliases)]


def emit_names() -> str:
    methods = [dtype.method for dtype in DTYPES.values() if dtype.method]
    return render("dtype_names.pyi.j2", _TABLE, "_dtype_names.pyi", names=names(), methods=methods)
