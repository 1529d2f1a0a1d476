"""Methods of Tensor that are about quantized tensors. What they call is imported when it is first needed."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.keys import KEY_BITS
from .._base.types import qscheme
from .._C import lib

if TYPE_CHECKING:
    from .tensor import Tensor as TensorType

_QUANTIZED = KEY_BITS["quantized"]


def as_quantized(same: Any, tensor: Any) -> Any:
    """Makes another tensor over the memory of a quantized one a quantized one as well; returns it in any case."""
    if lib.keys(tensor._h) & _QUANTIZED:
        from .._representations.quantized.tensors import own_quantizer, with_quantizer

        with_quantizer(same, own_quantizer(tensor))
    return same


class QuantizedMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    def dequantize(self: Any) -> TensorType:
        """Return the numbers that a quantized tensor stands for; the elements of any other as float32."""
        from .._representations.quantized import description

        return description.dequantize(self)

    def int_repr(self: Any) -> TensorType:
        """Return a copy of the integers in the memory of a quantized tensor."""
        from .._representations.quantized import description

        return description.int_repr(self)

    def qscheme(self: Any) -> qscheme:
        """Return how a quantized tensor is quantized, such as `opweave.per_tensor_affine`."""
        from .._representations.quantized import description

        return description.scheme_of(self)

    def q_scale(self: Any) -> float:
        """Return the scale of a tensor that is quantized with one."""
        from .._representations.quantized import description

        return description.q_scale(self)

    def q_zero_point(self: Any) -> int:
        """Return the zero point of a tensor that is quantized with one."""
        from .._representations.quantized import description

        return description.q_zero_point(self)

    def q_per_channel_scales(self: Any) -> TensorType:
        """Return the scales of a tensor that is quantized by channel."""
        from .._representations.quantized import description

        return description.q_per_channel_scales(self)

    def q_per_channel_zero_points(self: Any) -> TensorType:
        """Return the zero points of a tensor that is quantized by channel."""
        from .._representations.quantized import description

        return description.q_per_channel_zero_points(self)

    def q_per_channel_axis(self: Any) -> int:
        """Return the dimension of the channels of a tensor that is quantized by channel."""
        from .._representations.quantized import description

        return description.q_per_channel_axis(self)
