"""Convolutions and their transposes: values, first and second gradients, options and errors, beside torch's."""

from __future__ import annotations

from itertools import product

import pytest
from harness.programs import check

SIZES = {1: (11,), 2: (7, 8), 3: (5, 4, 6)}
KERNELS = {1: (3,), 2: (3, 2), 3: (2, 1, 3)}
GRADIENTS = """
a, w, b = g({input}, dtype='float64'), g({weight}, dtype='float64', step=0.9), g({bias}, dtype='float64')
y = {call}
first = L.autograd.grad((y * y * x(*y.shape, dtype='float64', step=0.3)).sum(), [a, w, b], create_graph=True)
second = L.autograd.grad(sum((each * each).sum() for each in first), [a, w, b])
y, *first, *second
"""


def program(name: str, dims: int, groups: int, stride: int, batch: str, options: str) -> str:
    transposed = "transpose" in name
    sizes, kernel = (", ".join(map(str, each[dims])) for each in (SIZES, KERNELS))
    channels = f"4, {6 // groups}" if transposed else f"6, {4 // groups}"
    more = ", output_padding=1" if transposed and stride == 2 else ""
    call = f"F.{name}{dims}d(a, w, b, stride={stride}, groups={groups}{options}{more})"
    return GRADIENTS.format(input=f"{batch}4, {sizes}", weight=f"{channels}, {kernel}", bias=6, call=call)


@pytest.mark.parametrize("name", ["conv", "conv_transpose"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(("groups", "stride"), [*product((1, 2), (1, 2))])
def test_values_and_gradients(name: str, dims: int, groups: int, stride: int) -> None:
    options = ", padding=1, dilation=2" if groups == 1 else ""
    check(program(name, dims, groups, stride, "2, " if stride == 2 else "", options))


def test_gradients_where_output_padding_exceeds_the_stride() -> None:
    call = "F.conv_transpose2d(a, w, b, stride=(3, 2), padding=(1, 2), output_padding=(2, 3), groups=2, dilation=4)"
    check(GRADIENTS.format(input="2, 2, 4, 4", weight="2, 2, 4, 5", bias=4, call=call))


CALLS = """
F.conv2d(x(2, 16, 17, 20, dtype='float64'), x(24, 16, 3, 3, dtype='float64'), padding=1)
F.conv2d(x(2, 16, 17, 20, dtype='float64'), x(24, 16, 3, 3, dtype='float64'), padding=1, stride=2)
F.conv2d(x(1, 32, 9, 9), x(8, 32, 1, 1), x(8))
F.conv2d(x(2, 8, 9, 40), x(8, 1, 3, 3), padding=1, groups=8)
F.conv2d(x(2, 8, 9, 7), x(8, 1, 5, 5), padding=2, groups=8, stride=2)
F.conv2d(x(1, 3, 6, 5), x(2, 3, 3, 2), padding='same', dilation=2)
F.conv2d(x(1, 3, 6, 5), x(2, 3, 3, 3), padding='valid')
F.conv2d(x(2, 3, 6, 5).bfloat16(), x(2, 3, 3, 3).bfloat16())
F.conv2d(L.complex(x(1, 2, 4, 4), x(1, 2, 4, 4)), L.complex(x(3, 2, 2, 2), -x(3, 2, 2, 2)))
F.conv2d(x(1, 3, 6, 5).transpose(2, 3), x(3, 2, 2, 2).transpose(0, 1))
F.conv1d(x(2, 3, 1).expand(2, 3, 9), x(4, 3, 3))
F.conv_transpose2d(x(2, 16, 9, 9), x(16, 8, 3, 3), stride=2, padding=1, output_padding=1)
F.conv_transpose2d(x(1, 4, 3, 3), x(4, 2, 2, 2), x(4), groups=2)
L.conv2d(x(0, 3, 4, 4), x(2, 3, 2, 2))
L.conv2d(x(1, 3, 4, 4), x(2, 3, 2, 2), None, 1, (0, 1))
F.conv3d(x(1, 2, 3, 4, 5), x(3, 2, 2, 2, 2), padding=1)
F.conv_transpose1d(x(2, 5), x(2, 3, 2))
F.conv_transpose3d(x(2, 3, 2, 2), x(2, 1, 2, 2, 2), stride=2)
F.conv2d(x(5, 5), x(6, 4, 3, 3))
F.conv2d(x(1, 4, 5, 5), x(6, 3, 3, 3))
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), groups=3)
F.conv2d(x(1, 4, 5, 5), x(5, 2, 3, 3), groups=2)
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), groups=0)
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), stride=0)
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), stride=(1, 2, 3))
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), padding=-1)
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), dilation=0)
F.conv2d(x(1, 4, 5, 5), x(6, 4, 7, 7))
F.conv2d(x(1, 4, 0, 5), x(6, 4, 3, 3))
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), x(5))
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), x(6, 1))
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3).double())
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), padding='same', stride=2)
F.conv2d(x(1, 4, 5, 5), x(6, 4, 3, 3), padding='other')
F.conv2d(x(1, 4, 5, 5), x(3))
F.conv_transpose2d(x(1, 4, 5, 5), x(6, 4, 3, 3))
F.conv_transpose2d(x(1, 4, 5, 5), x(4, 3, 3, 3), x(5), groups=2)
F.conv_transpose2d(x(1, 4, 5, 5), x(4, 3, 3, 3), padding=9)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls(call: str) -> None:
    check(call)
