"""`plain`: a device of ordinary memory, with functions of C for elementwise operators and for indexing.

It computes little, but lists the plans that it is given, while it is asked to.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opweave import library

_SOURCE = """
#include <stdio.h>
#include <string.h>
#include "device.h"

char plain_plans[4096];
int plain_lists;

/* Adds to the list: the name, then each result's dtype and sizes. Elements stay as they are. */
static int list_plan(const ow_device_plan *plan) {
    if (!plain_lists) return -1;
    char *to = plain_plans + strlen(plain_plans);
    to += sprintf(to, "%s", plan->name);
    for (int k = 0; k < plan->nresults; k++) {
        const ow_operand *r = &plan->results[k];
        to += sprintf(to, " %d(", r->dtype);
        for (int d = 0; d < r->ndim; d++) to += sprintf(to, d ? ",%d" : "%d", (int)r->sizes[d]);
        to += sprintf(to, ")");
    }
    sprintf(to, ";");
    return 1;
}

int plain_core(const ow_device_plan *plan) { return list_plan(plan); }
int plain_lapack(const ow_device_plan *plan) { return list_plan(plan); }
int plain_random(const ow_device_plan *plan) { return list_plan(plan); }
int plain_factory(const ow_device_plan *plan) { return list_plan(plan); }
int plain_reduce(const ow_device_plan *plan) { return list_plan(plan); }

static int is_float_vector(const ow_operand *t) {
    int64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->sizes[d] != 1 && t->strides[d] != step) return 0;
        step *= t->sizes[d];
    }
    return t->data && !t->on_cpu && t->dtype == OW_FLOAT32;
}

/* x + alpha * y of contiguous tensors of one shape; nothing else. */
int plain_elementwise(const ow_device_plan *plan) {
    const ow_operand *x = &plan->inputs[0], *y = &plan->inputs[1], *r = &plan->results[0];
    int64_t n = 1;
    if (strcmp(plan->name, "add") || !is_float_vector(x) || !is_float_vector(y) || !is_float_vector(r)) return -1;
    if (x->ndim != r->ndim || y->ndim != r->ndim) return -1;
    for (int d = 0; d < r->ndim; d++) {
        if (x->sizes[d] != r->sizes[d] || y->sizes[d] != r->sizes[d]) return -1;
        n *= r->sizes[d];
    }
    if (n > 1000) return 0;
    for (int64_t i = 0; i < n; i++)
        ((float *)r->data)[i] = ((float *)x->data)[i] + (float)plan->params[0].d * ((float *)y->data)[i];
    return 1;
}

/* tril of a contiguous matrix */
int plain_indexing(const ow_device_plan *plan) {
    const ow_operand *x = &plan->inputs[0], *r = &plan->results[0];
    if (plain_lists) return list_plan(plan);
    if (strcmp(plan->name, "tril") || !is_float_vector(x) || !is_float_vector(r) || x->ndim != 2) return -1;
    for (int64_t i = 0; i < x->sizes[0]; i++)
        for (int64_t j = 0; j < x->sizes[1]; j++) {
            float *to = (float *)r->data + i * x->sizes[1] + j;
            *to = j <= i + plan->ints[0] ? ((float *)x->data)[i * x->sizes[1] + j] : 0;
        }
    return 1;
}
"""
FAMILIES = ("elementwise", "indexing", "core", "lapack", "random", "factory", "reduce")
_loaded: list[ctypes.CDLL] = []


def _compiled(folder: Path) -> dict[str, int]:
    """The addresses of the functions."""
    source, made = folder / "plain.c", folder / "plain.so"
    source.write_text(_SOURCE, "utf-8")
    library.copy_headers(folder)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{folder}", "-o", made, source], check=True)
    library_of_c = ctypes.CDLL(str(made))
    _loaded.append(library_of_c)
    addresses = {name: ctypes.cast(getattr(library_of_c, f"plain_{name}"), ctypes.c_void_p).value for name in FAMILIES}
    return {name: address for name, address in addresses.items() if address}


@contextmanager
def listed_plans() -> Iterator[list[str]]:
    """The plans that the device is given meanwhile, in words: they count as computed."""
    plans: list[str] = []
    text = (ctypes.c_char * 4096).in_dll(_loaded[0], "plain_plans")
    lists = ctypes.c_int.in_dll(_loaded[0], "plain_lists")
    text.value, lists.value = b"", 1
    yield plans
    lists.value = 0
    plans += text.value.decode().split(";")[:-1]


_buffers: dict[int, ctypes.Array[ctypes.c_char]] = {}


def _allocate(index: int, nbytes: int) -> int:
    buffer = ctypes.create_string_buffer(nbytes)
    _buffers[ctypes.addressof(buffer)] = buffer
    return ctypes.addressof(buffer)


def _free(index: int, address: int, nbytes: int) -> None:
    del _buffers[address]


def _copy(index: int, to: int, source: int, nbytes: int) -> None:
    ctypes.memmove(to, source, nbytes)


def register(folder: Path) -> None:
    """Compile in a folder, and register the device, unless another module has."""
    if _loaded:
        return
    library.register_device(library.Device("plain", _allocate, _free, _copy, _copy, _copy, runs=_compiled(folder)))
