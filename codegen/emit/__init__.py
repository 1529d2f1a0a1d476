"""One module for each kind of output. `outputs` returns every generated file of a set of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..cache import NONE as NO_CACHE
from ..cache import Cache
from ..model.operator import Family, Operator
from ..read.exports import NONE as NO_EXPORTS
from ..read.exports import Exports
from . import (
    backward,
    casts,
    catalog,
    derivatives,
    dft,
    dtypes,
    kernels,
    python,
    registry,
    routines,
    stubs,
    submodules,
    tests,
)
from .text import render


def outputs(
    operators: Sequence[Operator],
    source: str,
    examples: Mapping[str, str] = MappingProxyType({}),
    exports: Exports = NO_EXPORTS,
    cache: Cache = NO_CACHE,
) -> dict[str, str]:
    """Path (relative to the output folder) → text, for the library itself. `examples` are those of docstrings; `cache`
    has what need not be derived again."""
    files = {
        "include/ow_dtypes.h": dtypes.emit_header(),
        "include/ow_core_dtypes.h": dtypes.emit_header(core=True),
        "include/ow_dft.h": dft.emit(),
        "include/ow_routines.h": routines.emit(),
        "python/_dtypes.py": dtypes.emit_python(),
        "python/_dtype_names.pyi": dtypes.emit_names(),
        "core/casts.c": casts.emit(),
        "core/registry_ops.c": registry.emit(operators, source),
        "python/operators.json": catalog.emit(operators),
        "python/_operators.py": python.emit(operators, source, "_operators.py"),
        "python/_docstrings.py": python.emit_docstrings(
            operators, source, "_docstrings.py", examples=examples, cache=cache
        ),
        "python/_derivatives.py": derivatives.emit(operators, source, "_derivatives.py", cache=cache),
        "python/_exports.py": render("exports.py.j2", "the modules of the package", "_exports.py", exports=exports),
        "python/__init__.pyi": stubs.emit_package(operators, source, exports),
        "python/_operators.pyi": stubs.emit(operators, source, "_operators.pyi"),
        "tests/test_operators.py": tests.emit(operators, source, "test_operators.py", cache),
    }
    files |= {f"python/{name}": text for name, text in submodules.emit(operators, source).items()}
    for path, operator in kernel_files(operators).items():
        text = cache.written(path, operator) or kernels.emit(operator)
        if text is not None:
            files[path] = text
    return files


def kernel_files(operators: Sequence[Operator]) -> dict[str, Operator]:
    """The paths of the files that follow from one operator alone."""
    everything = (*operators, *backward.operators(operators))
    return {f"kernels/{each.name}.c": each for each in everything if each.family is not Family.COMPOSITE}
