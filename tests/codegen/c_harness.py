"""Compiles printed expressions with the system's C compiler and runs them on NumPy arrays."""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codegen.dtypes import COMPUTE_DTYPES, DTYPES, DType
from codegen.expr import emit_c, parse
from codegen.generate import locked

# That a uint8 is never negative is no mistake of the printer, nor is the cast of a complement.
_QUIET = ("-Wno-unused-variable", "-Wno-type-limits", "-Wno-sign-compare")
_WARNINGS = ("-Wall", "-Wextra", "-Werror", *_QUIET)
FLAGS = ("-O2", "-ffp-contract=off", "-fno-math-errno", *_WARNINGS)
TRAP = ("-O0", "-ffp-contract=off", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", *_WARNINGS)

_CORE = Path(__file__).resolve().parents[2] / "runtime" / "core"
_INCLUDES = [f"-I{_CORE / folder}" for folder in ("kernel", "abi")]

# Plain statements of what the core's helpers promise.
_HELPERS = """
#include "special.h"
static inline uint64_t gcd_of(uint64_t a, uint64_t b) { return b ? gcd_of(b, a % b) : a; }
#define HELPERS(s, T, U, BITS, SIGNED) \\
static inline T ow_floordiv_##s(T a, T b, int *err) { \\
    if (b == 0) { *err = 1; return 0; } \\
    __int128 q = (__int128)a / b; \\
    if ((__int128)a % b != 0 && (a < 0) != (b < 0)) q--; \\
    return (T)q; } \\
static inline T ow_rem_##s(T a, T b, int *err) { \\
    if (b == 0) { *err = 1; return 0; } \\
    __int128 r = (__int128)a % b; \\
    return (T)((r != 0 && (r < 0) != (b < 0)) ? r + b : r); } \\
static inline T ow_fmod_##s(T a, T b, int *err) { \\
    if (b == 0) { *err = 1; return 0; } return (T)((__int128)a % b); } \\
static inline T ow_truncdiv_##s(T a, T b, int *err) { \\
    if (b == 0) { *err = 1; return 0; } return (T)((__int128)a / b); } \\
static inline T ow_ipow_##s(T a, T b) { \\
    if (SIGNED && b < 0) return a == 1 ? 1 : a == (T)-1 ? ((b & 1) ? (T)-1 : 1) : 0; \\
    uint64_t r = 1, f = (uint64_t)a; \\
    for (uint64_t e = (uint64_t)b; e; e >>= 1) { if (e & 1) r *= f; f *= f; } \\
    return (T)r; } \\
static inline T ow_shl_##s(T a, T b) { return (b < 0 || b >= BITS) ? 0 : (T)((uint64_t)a << b); } \\
static inline T ow_shr_##s(T a, T b) { \\
    return (b < 0 || b >= BITS) ? (T)(a < 0 ? -1 : 0) : (T)(a >> b); } \\
static inline T ow_gcd_##s(T a, T b) { \\
    return (T)gcd_of(a < 0 ? -(uint64_t)a : (uint64_t)a, b < 0 ? -(uint64_t)b : (uint64_t)b); } \\
static inline T ow_lcm_##s(T a, T b) { \\
    if (a == 0 || b == 0) return 0; \\
    uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a, y = b < 0 ? -(uint64_t)b : (uint64_t)b; \\
    return (T)(x / gcd_of(x, y) * y); } \\
static inline T ow_popcount_##s(T a) { return (T)__builtin_popcountll((U)a); } \\
static inline T ow_clz_##s(T a) { return (T)((U)a ? __builtin_clzll((U)a) - (64 - BITS) : BITS); } \\
static inline T ow_ctz_##s(T a) { return (T)((U)a ? __builtin_ctzll((U)a) : BITS); }
HELPERS(u8, uint8_t, uint8_t, 8, 0)
HELPERS(i8, int8_t, uint8_t, 8, 1)
HELPERS(i16, int16_t, uint16_t, 16, 1)
HELPERS(i32, int32_t, uint32_t, 32, 1)
HELPERS(i64, int64_t, uint64_t, 64, 1)
HELPERS(u64, uint64_t, uint64_t, 64, 0)
"""


REAL_DTYPES = tuple(dtype for dtype in COMPUTE_DTYPES if not dtype.is_complex)
"""Those in which the language has all its functions."""


@dataclass(frozen=True)
class Case:
    """One expression in one assignment of dtypes."""

    text: str
    env: tuple[tuple[str, str], ...]
    result: str

    @property
    def types(self) -> dict[str, DType]:
        return {name: DTYPES[dtype] for name, dtype in self.env}

    def __str__(self) -> str:
        return f"{self.text} with {dict(self.env)} -> {self.result}"


def _function(number: int, case: Case) -> str:
    emitted = emit_c(parse(case.text), case.types, DTYPES[case.result])
    loads = [
        f"const {dtype.c_type} {name} = (({dtype.c_type} const *)args[{index}])[i];"
        for index, (name, dtype) in enumerate(case.types.items())
    ]
    body = [
        *loads,
        "int flag = 0; int *const err = &flag; (void)err;",
        *emitted.statements,
        f"(({DTYPES[case.result].c_type} *)out)[i] = {emitted.value};",
        "failed[i] = (uint8_t)flag;",
    ]
    lines = "\n        ".join(body)
    return (
        f"void f{number}(void *out, uint8_t *failed, void *const *args, int64_t n) {{ (void)args;\n"
        f"    for (int64_t i = 0; i < n; i++) {{\n        {lines}\n    }}\n}}\n"
    )


class Library:
    """A shared object with a function per case."""

    def __init__(self, cases: Sequence[Case], folder: Path, flags: Sequence[str] = FLAGS) -> None:
        self.cases = list(cases)
        source, shared = folder / "cases.c", folder / "cases.so"
        source.write_text(_HELPERS + "\n".join(_function(k, case) for k, case in enumerate(self.cases)))
        command = ["gcc", "-std=gnu11", "-shared", "-fPIC", *_INCLUDES, *flags, str(source), "-o", str(shared), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        self._library = ctypes.CDLL(str(shared))

    def run(self, number: int, values: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Result, and where the error flag was set."""
        case = self.cases[number]
        arrays = [np.ascontiguousarray(values[name], dtype=dtype.numpy) for name, dtype in case.types.items()]
        n = arrays[0].size
        out = np.empty(n, dtype=DTYPES[case.result].numpy)
        failed = np.zeros(n, dtype="bool")
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        function = self._library[f"f{number}"]
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        function.restype = None
        function(out.ctypes.data, failed.ctypes.data, pointers, n)
        return out, failed


def extremes(dtype: DType) -> np.ndarray:
    """Values at which kernels go wrong."""
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_integer:
        low, high = dtype.lowest, dtype.highest
        values = {low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 5, 7, 8, 31, 63, 100}
        values |= {-1, -2, -3, -7, -8} if low else set()
        values |= {1 << 24, (1 << 24) + 1} if dtype.bits >= 32 else set()
        values |= {-(1 << 31)} if dtype.bits >= 32 and low else set()
        values |= {1 << 53, (1 << 53) + 1} if dtype.bits == 64 else set()
        return np.array(sorted(values), dtype=dtype.numpy)
    info = np.finfo(dtype.numpy)
    magnitudes = [0, info.smallest_subnormal, info.tiny, 1e-3, 0.3, 0.5, 1, 1.5, 2, 2.5, 3.7, 20, 100]
    magnitudes += [2.0**24 + 1, float(info.max), np.inf]
    return np.array([*magnitudes, *(-np.array(magnitudes, dtype=dtype.numpy)), np.nan], dtype=dtype.numpy)


def grid(types: Mapping[str, DType]) -> dict[str, np.ndarray]:
    """Every combination of extreme values."""
    axes = [extremes(dtype) for dtype in types.values()]
    if len(axes) > 2:
        axes = [axis[::2] if axis.size > 4 else axis for axis in axes]
    mesh = np.meshgrid(*axes, indexing="ij")
    return {name: array.ravel() for name, array in zip(types, mesh, strict=True)}


def outcomes(cases: Sequence[Case], folder: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """What every case gives on extreme values, and where its error flag was set, from a process that undefined
    behaviour kills. It runs once for all processes of a test run, which share the folder."""
    kept, root, here = folder / "outcomes.pickle", Path(__file__).parents[2], Path(__file__).parent
    program = (
        f"import pickle, sys; sys.path[:0] = [{str(root)!r}, {str(here)!r}]\n"
        "from pathlib import Path\n"
        "from c_harness import Case, Library, TRAP, grid\n"
        f"cases = [Case(*fields) for fields in {[(c.text, c.env, c.result) for c in cases]!r}]\n"
        f"library = Library(cases, Path({str(folder)!r}), TRAP)\n"
        "found = []\n"
        "for number, case in enumerate(cases):\n"
        "    print(case, flush=True)\n"
        "    found.append(library.run(number, grid(case.types)))\n"
        f"Path({str(kept)!r}).write_bytes(pickle.dumps(found))\n"
    )
    with locked(folder):
        if not kept.exists():
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            last = done.stdout.strip().splitlines()[-1:]
            assert done.returncode == 0, f"undefined behaviour in {last}: {done.stderr[-2000:]}"
    found: list[tuple[np.ndarray, np.ndarray]] = pickle.loads(kept.read_bytes())
    return found
