"""`Variable`: torch's former name of tensors that gradients are asked of."""

from __future__ import annotations

from typing import Any

from .._tensor.tensor import Tensor

__all__ = ["Variable"]


class _VariableType(type):
    """Metaclass: every tensor is a Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """The former name of Tensor: `Variable(x)` is `x`, without its history.

    Args:
        data (Tensor): the values.
        requires_grad (bool): whether a gradient is recorded.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if data is None:
            return Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
