"""Builds the core without operators into a shared object, and the C stress program; both in a temporary directory.

Reads runtime/core and tests/runtime/core/native. `core` gives the functions of api.h through cffi, as the package
itself has them, but with stubs for operators, casts and copies.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cffi import FFI
from folders import shared_folder

from codegen.dtypes import DTYPES
from codegen.emit.dtypes import emit_header
from codegen.generate import locked

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "runtime" / "core"
CORE_INCLUDES = [f"-I{folder}" for folder in (CORE, CORE / "abi", CORE / "kernel")]
NATIVE = Path(__file__).resolve().parent / "native"

POOLS = ["segments", "small_pool", "large_pool", "allocator"]
STATE = ["errors", "thread", "environment", "statistics", *POOLS, "thread_pool"]
TENSORS = [
    "sizes", "devices", "device_memory", "pinned_memory", "storage", "left_storages", "new_memory", "tensor", "overlap",
    "channels_last", "size_reads",
]  # fmt: skip
PYTHON = ["level", "registry", "shape_cache", "gil", "api_tensor", "api_state"]

_INDICES = {name: index for index, name in enumerate(DTYPES)}
F32, F64, I64, BOOL, U8 = (_INDICES[name] for name in ("float32", "float64", "int64", "bool", "uint8"))


@cache
def generated_headers() -> Path:
    """A folder with the generated header that the files under test include."""
    folder = Path(tempfile.mkdtemp(prefix="opweave-headers-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "ow_dtypes.h").write_text(emit_header())
    (folder / "ow_core_dtypes.h").write_text(emit_header(core=True))
    return folder


def flags() -> list[str]:
    include = [*CORE_INCLUDES, f"-I{generated_headers()}", f"-I{sysconfig.get_paths()['include']}"]
    return ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-DOW_NLEVELS=3", "-pthread", *include]


LEVELS = {"v1": "x86-64", "v3": "x86-64-v3", "v4": "x86-64-v4"}
"""The compiler's name of each instruction-set level."""

_NEEDED = {"v1": "sse2", "v3": "avx2", "v4": "avx512bw"}


def processor_has(feature: str) -> bool:
    """Whether the system names a feature of this processor."""
    return feature in Path("/proc/cpuinfo").read_text().split()


def needs_level(level: str) -> None:
    """Skip the test unless this processor runs code of a level."""
    if not processor_has(_NEEDED[level]):
        pytest.skip(f"this processor has no {_NEEDED[level]}")


def guarded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy whose last byte is that of a page, behind which is one that may not be read or written."""
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages * mmap.PAGESIZE
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    copy = np.frombuffer(memory, array.dtype, array.size, pages * mmap.PAGESIZE - array.nbytes)
    copy[...] = array.reshape(-1)
    return copy


def sources(names: list[str]) -> list[str]:
    return [str(*CORE.rglob(f"{name}.c")) for name in names]


def compile_c(*arguments: str) -> None:
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        pytest.skip("needs a C compiler")
    done = subprocess.run([compiler, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def compiled_once(factory: pytest.TempPathFactory, name: str, *arguments: str) -> Path:
    """The file that the compiler makes, which the processes of the run share."""
    folder = shared_folder(factory, name)
    path = folder / "compiled"
    with locked(folder):
        if not path.exists():
            compile_c(*arguments, "-o", str(path))
    return path


@pytest.fixture(scope="session")
def core_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [*sources(STATE + TENSORS + PYTHON), str(NATIVE / "stubs.c")]
    # -Bsymbolic: short names such as `size` must not bind to whatever the interpreter's process exports
    return compiled_once(
        tmp_path_factory, "core", "-O2", "-shared", "-fPIC", "-Wl,-Bsymbolic", *flags(), *files, "-ldl"
    )


@dataclass
class Core:
    ffi: FFI
    lib: Any

    def list(self, values: list[int] | tuple[int, ...]) -> Any:
        return self.ffi.new("int64_t[]", list(values) or [0])

    def empty(self, sizes: list[int], strides: list[int] | None = None, dtype: int = F32) -> float:
        steps = self.ffi.NULL if strides is None else self.list(strides)
        return float(self.lib.empty_strided(self.list(sizes), steps, len(sizes), dtype))

    def view(self, t: float, sizes: list[int], strides: list[int], offset: int = 0, dtype: int = -1) -> float:
        return float(self.lib.as_strided(t, self.list(sizes), self.list(strides), len(sizes), offset, dtype))

    def error(self) -> tuple[int, str]:
        text = self.ffi.new("char[]", 1200)
        kind = self.lib.error_take(text, 1200)
        return kind, self.ffi.string(text).decode()

    def sizes(self, t: float) -> list[int]:
        out = self.ffi.new("int64_t[64]")
        self.lib.sizes(t, out)
        return list(out[0 : self.lib.ndim(t)])

    def strides(self, t: float) -> list[int]:
        out = self.ffi.new("int64_t[64]")
        self.lib.strides(t, out)
        return list(out[0 : self.lib.ndim(t)])

    def bytes(self, t: float, n: int) -> Any:
        return self.ffi.buffer(self.ffi.cast("char *", self.lib.data_ptr(t)), n)


def load_core(path: str | Path) -> Core:
    ffi = FFI()
    declarations = (CORE / "abi" / "api.h").read_text()
    ffi.cdef("\n".join(line for line in declarations.splitlines() if not line.startswith("#")))
    return Core(ffi, ffi.dlopen(str(path)))


@pytest.fixture(scope="session")
def core(core_library: Path) -> Core:
    return load_core(core_library)


@pytest.fixture(scope="session")
def build_stress(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that compiles stress.c with the given flags and gives the program's path."""

    def build(options: str) -> Path:
        files = [str(NATIVE / "stress.c"), *sources(STATE + TENSORS)]
        return compiled_once(tmp_path_factory, f"stress {options}", *options.split(), *flags(), *files)

    return build
