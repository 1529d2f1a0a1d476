"""Sizes that Python is told while calls are recorded: with other sizes, it does the same as long as these are.

The core notes of which tensors it tells sizes (`core/python/noted_sizes.c`), to the function or to the package's own
Python. Sizes that operators alone look at are not among them.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .._handle import size_reads

SHAPE, LAYOUT = -1, -2
"""In place of a dimension: all sizes, and the strides with them."""


class SizeRead(NamedTuple):
    """Fact that Python was told a size."""

    tensor: Any
    """None: it is not known of which tensor."""
    dim: int
    place: Any
    """The line of the program that reads it."""


class SizeReads:
    """The sizes that Python was told during a recording, in order.

    Attributes:
        found: the reads, each once.
    """

    def __init__(self, place: Callable[[FrameType | None], Any]) -> None:
        """Begin with none. `place(frame)` is the line of the program that is at work in a frame, or now."""
        self.found: dict[tuple[float, int], SizeRead] = {}
        self._place = place
        self._known: dict[float, Any] = {}

    def know(self, tensor: Any) -> None:
        """Keep a tensor, of which sizes may be read."""
        self._known[tensor._h] = tensor

    def resume(self) -> None:
        """Note what is read from now on."""
        size_reads(True)

    def pause(self) -> None:
        """Take what was read, and note no more."""
        for handle, dim in size_reads(False):
            self._add(handle, dim, None)

    def forget_from(self, count: int) -> None:
        """Forget all reads but the first ones."""
        for key in [*self.found][count:]:
            del self.found[key]

    def read_shape(self, tensor: Any, frame: FrameType) -> None:
        """Note that a frame reads the shape of a tensor, or one size of it."""
        index, ndim = _constant_index(frame.f_code, frame.f_lasti), tensor.ndim
        is_size = index is not None and -ndim <= index < ndim
        self._add(tensor._h, index % ndim if is_size and index is not None else SHAPE, frame)

    def _add(self, handle: float, dim: int, frame: FrameType | None) -> None:
        tensor = self._known.get(handle)
        if tensor is not None and not tensor.ndim:
            return  # There is no size that could be another one.
        key = (0.0 if tensor is None else handle, dim)
        if key not in self.found:
            self.found[key] = SizeRead(tensor, dim, self._place(frame))


@cache
def _constant_index(code: CodeType, offset: int) -> int | None:
    """The constant by which the next instructions index what the one at an offset gives."""
    after = [each for each in dis.get_instructions(code) if each.offset > offset][:2]
    if len(after) < 2 or not after[0].opname.startswith("LOAD_") or type(after[0].argval) is not int:
        return None
    is_index = after[1].opname == "BINARY_SUBSCR" or (after[1].opname == "BINARY_OP" and after[1].argrepr == "[]")
    return after[0].argval if after[0].opname in ("LOAD_CONST", "LOAD_SMALL_INT") and is_index else None
