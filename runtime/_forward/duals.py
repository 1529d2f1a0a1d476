"""Tensors with a tangent beside them."""

from __future__ import annotations

from typing import Any

from .._base.tensor_class import Tensor
from .._dispatch.levels import Level, alias_of, held_by, level_of, stand_in, view_like

__all__ = ["dual_of", "is_dual", "own_tangent", "primal_of", "set_tangent", "tangent_of"]


class _Dual:
    """The payload of a dual tensor, and of views of it.

    Attributes:
        primal: the tensor.
        tangent: a tensor of the same sizes and strides; None: it is zero.
        level: the level that the tangent belongs to.
    """

    __slots__ = ("level", "primal", "tangent")

    def __init__(self, primal: Any, tangent: Any, level: Level) -> None:
        self.primal, self.tangent, self.level = primal, tangent, level


def dual_of(primal: Any, tangent: Any, level: Level) -> Any:
    """A tensor that stands for a primal with a tangent, or with none yet."""
    if tangent is not None and primal.stride() != tangent.stride():
        primal, tangent = primal.contiguous(), tangent.contiguous()
    return stand_in(primal, 0, _Dual(primal, tangent, level))


def is_dual(value: Any, level: Level) -> bool:
    """True if a value is a dual tensor of a level."""
    return isinstance(value, Tensor) and level_of(value) is level


def primal_of(dual: Any) -> Any:
    """The primal of a dual tensor."""
    return view_like(dual, held_by(dual).primal)


def tangent_of(dual: Any) -> Any:
    """The tangent of a dual tensor; None: it is zero."""
    tangent = held_by(dual).tangent
    return None if tangent is None else view_like(dual, tangent)


def own_tangent(dual: Any, like: Any = None) -> Any:
    """The tangent of a dual tensor, to be written to: of the level of another one that is copied there."""
    held = held_by(dual)
    if held.tangent is None or (like is not None and level_of(like) is not level_of(held.tangent)):
        shape, strides = held.primal.shape, held.primal.stride()
        source = alias_of(held.primal if like is None else like)
        is_plain = held.primal.is_contiguous()
        whole = source.new_zeros(shape) if is_plain else source.new_empty_strided(shape, strides).zero_()
        held.tangent = whole if held.tangent is None else whole.copy_(held.tangent)
    return view_like(dual, held.tangent)


def set_tangent(dual: Any, tangent: Any) -> None:
    """Overwrites the tangent of a dual tensor; None: by zeros."""
    if tangent is not None:
        own_tangent(dual, tangent).copy_(tangent)
    elif held_by(dual).tangent is not None:
        own_tangent(dual).zero_()
