"""Tensors with names, written as `N:2,C:3` or without names as `2,3`."""

from __future__ import annotations

import opweave


def named(text: str) -> opweave.Tensor:
    """The numbers from 1 on, in this shape and with these names; `None` stands for none."""
    parts = [part.rpartition(":") for part in text.split(",") if part]
    shape = tuple(int(size) for _, _, size in parts)
    count = opweave.Size(shape).numel()
    names = [None if name in ("", "None") else name for name, _, _ in parts]
    return opweave.arange(1.0, count + 1.0).view(shape).rename(*names)
