"""The core's memory bandwidth beside that of plain C loops on the same buffers: `python benchmarks/bandwidth.py`.

One thread each; float32 buffers in the second-level cache, in the last-level cache, and in memory. The loops are
compiled with `$CC` (cc) at -O3 for this machine.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure
import opweave

SIZES = (30_000, 1_000_000, 10_000_000)
SOURCE = """
#include <stddef.h>
void add(float *restrict a, const float *restrict b, const float *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + c[i];
}
void copy(float *restrict a, const float *restrict b, const float *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i];
}
void triad(float *restrict a, const float *restrict b, const float *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
}
"""
WORK: dict[str, Callable[[Any, Any, Any], object]] = {
    "add": lambda a, b, c: opweave.add(b, c, out=a),
    "copy": lambda a, b, c: a.copy_(b),
    "triad": lambda a, b, c: opweave.add(b, c, alpha=3, out=a),
}


def plain_loops() -> ctypes.CDLL:
    # The library stays loaded after its file is gone.
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "loops.c"), Path(folder, "loops.so")
        source.write_text(SOURCE)
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
        return ctypes.CDLL(str(library))


def main() -> None:
    loops = plain_loops()
    opweave.set_num_threads(1)
    print("| work | elements | plain C, GB/s | opweave, GB/s | share |\n|---|---|---|---|---|")
    for n in SIZES:
        tensors = [opweave.ones(n) for _ in range(3)]
        pointers = [ctypes.c_void_p(x.data_ptr()) for x in tensors]
        for name, work in WORK.items():
            loop = getattr(loops, name)
            calls: dict[str, Callable[[], object]] = {
                "plain": lambda loop=loop, to=pointers, n=n: loop(*to, ctypes.c_size_t(n)),
                "opweave": lambda work=work, to=tensors: work(*to),
            }
            seconds = measure.best(calls)
            moved = n * 4 * (2 if name == "copy" else 3) / 1e9
            plain, ours = moved / seconds["plain"], moved / seconds["opweave"]
            print(f"| {name} | {n} | {plain:.1f} | {ours:.1f} | {ours / plain:.2f} |", flush=True)


if __name__ == "__main__":
    main()
