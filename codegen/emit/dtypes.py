"""The table of dtypes for C (include/ow_dtypes.h; the core has ow_core_dtypes.h), for Python (_dtypes.py) and for type
checkers (_dtype_names.pyi)."""

from __future__ import annotations

from ..dtypes import DTYPES, DType, Kind, Specials, promote
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


def _promotion(first: DType, second: DType) -> str:
    if first is not second and not (first.promotes and second.promotes):
        return "OW_NO_DTYPE"
    return f"OW_{promote(first, second).name.upper()}"


def emit_header(core: bool = False) -> str:
    """ow_dtypes.h, of the dtypes that kernels know, or the core's table of all dtypes."""
    known = [dtype for dtype in DTYPES.values() if dtype.promotes]
    shown = list(DTYPES.values()) if core else known
    assert shown[: len(known)] == known, "dtypes that are only stored come last"
    rows = [
        {
            "enum": f"OW_{dtype.name.upper()}",
            "name": dtype.name,
            "scalar_name": dtype.scalar_name,
            "size": dtype.itemsize,
            "kind": _c_kind(dtype),
            "compute": f"OW_{dtype.opmath.name.upper()}",
            "to_real": f"OW_{dtype.to_real.name.upper()}",
            "to_complex": f"OW_{dtype.to_complex.name.upper()}" if dtype.promotes else "OW_NO_DTYPE",
            "precision": dtype.format.precision if dtype.format else 0,
            "dlpack": dtype.dlpack_code,
            "in_numpy": int(dtype.numpy is not None),
            "alignment": dtype.to_real.itemsize,
            "lowest": _bound(dtype, highest=False),
            "highest": _bound(dtype, highest=True),
            "promotions": [_promotion(dtype, other) for other in shown],
            "cpp_name": dtype.cpp_name,
            "cpp_type": dtype.cpp_type,
            "ends": (dtype.format.lowest.hex(), dtype.format.largest.hex()) if dtype.format else (0, 0),
            "infinite": int(dtype.format is not None and dtype.format.specials is Specials.IEEE),
        }
        for dtype in shown
    ]
    return render(
        *("dtypes.h.j2", _TABLE, "ow_core_dtypes.h" if core else "ow_dtypes.h"),
        dtypes=rows,
        core=core,
        kernels=len(known),
        count="OW_NSTORED" if core else "OW_NDTYPES",
    )


def emit_python() -> str:
    """Return the table of dtypes as a module of Python."""
    rows = [
        (
            *(d.name, d.code, d.itemsize, d.kind.value, d.numpy, d.aliases, d.scalar_name, d.method),
            *(d.is_signed, d.cpp_name, d.promotes),
            (d.format.precision, d.format.lowest, d.format.largest, d.format.smallest_normal) if d.format else None,
        )
        for d in DTYPES.values()
    ]
    return render("dtypes.py.j2", _TABLE, "_dtypes.py", rows=rows)


def names() -> list[str]:
    """Every name of every dtype."""
    return [name for dtype in DTYPES.values() for name in (dtype.name, *dtype.aliases)]


def emit_names() -> str:
    """Return the type stubs of names that follow from dtypes."""
    methods = [dtype.method for dtype in DTYPES.values() if dtype.method]
    return render("dtype_names.pyi.j2", _TABLE, "_dtype_names.pyi", names=names(), methods=methods)
