"""Writes the C source of the module `_C`, and its type stub, from api.h.

    build_cffi.py API_H OUTPUT_C OUTPUT_PYI

api.h holds declarations only, so with comments and preprocessor lines removed it is what cffi's cdef wants.
cffi wraps every call in Py_BEGIN_ALLOW_THREADS and in two calls that save errno; a call of the core is often
shorter than these. The preamble redefines them: the interpreter's lock stays held (the core drops it itself
around long loops) and errno is left alone. cffi does not promise that its output uses these macros, so that
is checked here, at build time.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

import cffi

MODULE = "opweave._C"

PREAMBLE = """
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS {
#define Py_END_ALLOW_THREADS }
#undef _cffi_restore_errno
#undef _cffi_save_errno
#define _cffi_restore_errno() ((void)0)
#define _cffi_save_errno() ((void)0)

#include <stdint.h>
#include "api.h"
"""

# What surrounds each call, once per function, each on a line of its own.
AROUND_CALL = (
    "Py_BEGIN_ALLOW_THREADS",
    "_cffi_restore_errno();",
    "_cffi_save_errno();",
    "Py_END_ALLOW_THREADS",
)


def declarations(header: str) -> str:
    """The header without comments and preprocessor lines."""
    without_comments = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#.*$", "", without_comments, flags=re.MULTILINE)


def stub(cdef: str) -> str:
    """The functions of `lib` with the types that cffi converts from and to."""
    lines = [
        '"""The compiled core."""',
        "",
        "from typing import Any",
        "",
        "from _cffi_backend import FFI",
        "",
        "class _Core:",
    ]
    for result, name, parameters in re.findall(r"(\w[\w *]*?)\s*\b(\w+)\(([^)]*)\);", cdef):
        given = [p for p in parameters.split(",") if p.strip() != "void"]
        arguments = "".join(f", {argument_name(p)}: {python_type(p)}" for p in given)
        lines.append(f"    def {name}(self{arguments}, /) -> {python_type(result)}: ...")
    return "\n".join([*lines, "", "lib: _Core", "ffi: FFI", ""])


def argument_name(declaration: str) -> str:
    """Return the name of an argument of a C declaration, as Python can have it."""
    name = declaration.split()[-1].lstrip("*")
    return f"{name}_" if keyword.iskeyword(name) else name


def python_type(declaration: str) -> str:
    """Return the Python type of a C declaration."""
    if "*" in declaration:
        return "Any"
    c_type = declaration.split()[0]
    return {"double": "float", "void": "None"}.get(c_type, "int")


def check(source: str, functions: int) -> None:
    """Fails unless every call is wrapped in exactly the macros that the preamble redefines."""
    lines = [line.strip() for line in source.split(PREAMBLE, 1)[1].splitlines()]
    found = {text: lines.count(text) for text in AROUND_CALL}
    if any(count != functions for count in found.values()) or "PyEval_SaveThread" in source:
        sys.exit(
            f"the preamble of {__file__} does not fit the code that cffi {cffi.__version__} generates: "
            f"for {functions} functions it wrote {found}"
        )


def main(header: str, output: str, stub_output: str) -> None:
    """Write the C source of the binding and its type stubs."""
    cdef = declarations(Path(header).read_text())
    builder = cffi.FFI()
    builder.cdef(cdef)
    builder.set_source(MODULE, PREAMBLE)
    builder.emit_c_code(output)
    Path(stub_output).write_text(stub(cdef))
    check(Path(output).read_text(), functions=cdef.count("("))


if __name__ == "__main__":
    main(*sys.argv[1:])
