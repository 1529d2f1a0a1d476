"""Windows that reach beyond a tensor, whose memory lies beside pages that may not be read: nothing outside is read."""

from __future__ import annotations

import pytest
from harness.processes import python, succeed

PROGRAM = """
import ctypes
import mmap

import numpy as np
import opweave as ow

functional, page = ow.nn.functional, mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)


def guarded(shape, at_end):
    "A tensor at one end of a page between two that may not be read."
    memory = mmap.mmap(-1, 3 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in (address, address + 2 * page):
        assert libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) == 0
    count = int(np.prod(shape))
    offset = 2 * page - 4 * count if at_end else page
    array = np.frombuffer(memory, np.float32, count, offset).reshape(shape)
    array[...] = np.arange(count, dtype=np.float32).reshape(shape)
    return ow.from_numpy(array)


for shape in ((1, 1, 1, 4), (1, 1, 5, 6), (1, 2, 9, 9), (1, 1, 3, 40), (1, 1, 1, 70)):
    for size in (2, 3, 5):
        for step in (1, 2, 3):
            for at_end in (False, True):
                x, pad = guarded(shape, at_end), size // 2
                copy = x.clone()
                rows = min(size, shape[2])
                window = ((rows, size), step, (rows // 2, pad))
                weight = ow.ones(1, shape[1], rows, size)
                for call in (
                    lambda x: functional.max_pool2d(x, *window),
                    lambda x: functional.avg_pool2d(x, *window),
                    lambda x: functional.conv2d(x, weight, None, *window[1:]),
                    lambda x: functional.unfold(x, *window[:1], padding=window[2], stride=step),
                ):
                    assert ow.equal(call(x), call(copy)), (shape, size, step)

# products of matrices: images and weights end at such pages
for channels, width in ((16, 7), (25, 6), (9, 9)):
    for size in (1, 2, 3):
        results = page // (4 * channels * size * size)
        x, weight = guarded((1, channels, width, width), True), guarded((results, channels, size, size), True)
        one, two = (each.clone().requires_grad_() for each in (x, weight))
        x, weight = x.requires_grad_(), weight.requires_grad_()
        for given in ((x, weight), (one, two)):
            functional.conv2d(*given).square().sum().backward()
        assert ow.equal(x.grad, one.grad) and ow.equal(weight.grad, two.grad), (channels, width, size)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_nothing_outside_is_read(threads: str) -> None:
    succeed(python("-c", f"import opweave\nopweave.set_num_threads({threads})\n{PROGRAM}"))
