"""Comparison of vector widths for loops of single instructions: `python benchmarks/loops.py [operator ...]`.

codegen/emit/elementwise.py decides by one rule whether a loop takes narrow vectors, four an iteration, or wide ones,
two an iteration. Here the loops of some operators are compiled each way for processors with AVX-512, and as compilers
have them by themselves, and take turns on one thread: float32 and float64 numbers in the first and in the second cache.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from opweave._toolchain import toolchain
from opweave.codegen import library
from opweave.codegen.dtypes import DTYPES
from opweave.codegen.emit import backward, kernels
from opweave.codegen.model.operator import Operator

ROOT = Path(__file__).resolve().parent.parent
LEVEL = "v4"
OPERATORS = ("add", "sub", "maximum", "lerp", "frac", "heaviside", "maximum_backward_self", "reciprocal_backward_self")
SIZES = (1000, 10_000)
WAYS = {"narrow": ("OW_STREAMS ", 4), "wide": ("", 2), "compiler": ("", 1)}
ROUNDS = 60
DRIVER = """
#include <time.h>
__attribute__((visibility("default")))
double measure(int dtype, char **ptr, const int64_t *stride, int64_t n, int64_t repeats) {
    const ow_scalar params[4] = {{.d = 0.5}, {.d = 0.5}, {.d = 0.5}, {.d = 0.5}};
    const ow_elementwise_table *table = &OW_SYMBOL(table_NAME);
    ow_loop loop = table->plain[dtype] ? table->plain[dtype] : table->general[dtype];
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int64_t i = 0; i < repeats; i++) loop(ptr, stride, n, params, 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / repeats;
}
"""


def loop(operator: Operator, way: str, folder: Path) -> ctypes.CDLL:
    """The loops of an operator with these vectors."""
    attribute, count = WAYS[way]
    text = kernels.emit(operator) or ""
    text = re.sub(r"#pragma GCC unroll \d\n", "", text).replace("OW_STREAMS static", "static")
    text = re.sub(rf"^static int (?={operator.name}_f)", f"{attribute}static int ", text, flags=re.M)
    text = text.replace("#pragma GCC ivdep\n", f"#pragma GCC unroll {count}\n#pragma GCC ivdep\n")
    source, output = folder / f"{operator.name}_{way}.c", folder / f"{operator.name}_{way}.so"
    source.write_text(re.sub(r"^#line .*\n", "", text, flags=re.M) + DRIVER.replace("NAME", operator.name))
    tools = toolchain.find()
    include = [f"-I{ROOT / path}" for path in ("runtime/core", "generated/include")]
    flags = [*tools.arguments, *tools.levels[LEVEL], f"-DOW_LEVEL={LEVEL}", *include, "-shared"]
    subprocess.run([*tools.command, *flags, str(source), "-o", str(output), *tools.libraries], check=True)
    found = ctypes.CDLL(str(output))
    found.measure.restype = ctypes.c_double
    return found


def times(loops: dict[str, ctypes.CDLL], operands: int, dtype: str, n: int) -> dict[str, float]:
    """Best nanoseconds of each."""
    arrays = [np.full(n, 0.75, dtype) for _ in range(operands + 1)]
    pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    strides = (ctypes.c_int64 * len(arrays))(*(array.itemsize for array in arrays))
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(ROUNDS):
        for way, found in loops.items():
            ns = found.measure(DTYPES[dtype].code, pointers, strides, ctypes.c_int64(n), ctypes.c_int64(1_000_000 // n))
            best[way] = min(best[way], ns)
    return best


def chosen(names: list[str]) -> Iterator[Operator]:
    declared = library.read(ROOT / "ops.yaml", "ops.yaml")
    every = {operator.name: operator for operator in (*declared, *backward.operators(declared))}
    return (every[name] for name in names)


def main() -> None:
    print(f"| operator | dtype | elements | {', ns | '.join(WAYS)}, ns |\n|---|---|---|{'---|' * len(WAYS)}")
    for operator in chosen(sys.argv[1:] or list(OPERATORS)):
        with tempfile.TemporaryDirectory() as folder:
            loops = {way: loop(operator, way, Path(folder)) for way in WAYS}
        for dtype in ("float32", "float64"):
            for n in SIZES:
                ns = times(loops, len(operator.inputs), dtype, n)
                print(
                    f"| {operator.name} | {dtype} | {n} | {' | '.join(f'{ns[way]:.0f}' for way in WAYS)} |", flush=True
                )


if __name__ == "__main__":
    main()
