"""Schedules of kernels: in which functions they compute the loops of operators, over which rows and strips."""

from __future__ import annotations

from collections.abc import Iterator

from ...nest.forms import Function
from ..elementwise import LoopKernel
from ..factories import FactoryKernel
from ..halves import HalfKernel
from ..results import ResultsKernel
from . import elementwise, factory, halves, several


def scheduled(kernel: LoopKernel | ResultsKernel | HalfKernel | FactoryKernel) -> Iterator[Function]:
    """Return the functions of a kernel, its loop last."""
    match kernel:
        case LoopKernel():
            return elementwise.functions(kernel)
        case ResultsKernel():
            return several.functions(kernel)
        case HalfKernel():
            return halves.functions(kernel)
        case _:
            return factory.functions(kernel)
