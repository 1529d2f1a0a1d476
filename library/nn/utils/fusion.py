"""Batch normalization as a part of the convolution or the linear map before it, in evaluation."""

from __future__ import annotations

import copy
from typing import Any

from ... import _operators as ops
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a convolution that does what `conv` and then `bn` do.

    Args:
        conv (Module): a convolution in evaluation mode.
        bn (Module): a batch normalization in evaluation mode, with running statistics.
        transpose (bool): whether the convolution is a transposed one.

    Raises:
        AssertionError: a module is in training mode, or has no running statistics.
    """
    fused = _copied(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of a convolution and the batch normalization after it, with statistics `bn_rm` and
    `bn_rv`. None stands for a bias of zeros, and for weights of ones.
    """
    bias, scale, shift = _affine(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _parameters(conv_w, conv_w * scale.reshape(shape), bias, conv_b, shift)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a linear map that does what `linear` and then `bn` do.

    Args:
        linear (Module): a linear map in evaluation mode.
        bn (Module): a batch normalization in evaluation mode, with running statistics.

    Raises:
        AssertionError: a module is in training mode, has no running statistics, or their features do not fit.
    """
    fused = _copied(linear, bn)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of a linear map and the batch normalization after it, as fuse_conv_bn_weights."""
    bias, scale, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w, linear_w * scale.unsqueeze(-1), bias, linear_b, shift)


def _copied(module: Any, bn: Any) -> Any:
    if module.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return copy.deepcopy(module)


def _affine(bias: Any, mean: Any, variance: Any, eps: float, weight: Any, offset: Any) -> tuple[Any, Any, Any]:
    """The bias, by what results are multiplied, and what becomes of the bias."""
    bias = ops.zeros_like(mean) if bias is None else bias
    scale = (variance + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    shift = (bias - mean) * scale
    return bias, scale, shift if offset is None else shift + offset


def _parameters(weight: Any, scaled: Any, bias: Any, given: Any, shift: Any) -> tuple[Parameter, Parameter]:
    dtype = weight.dtype if given is None else given.dtype
    return (
        Parameter(scaled.detach().to(weight.dtype), weight.requires_grad),
        Parameter(shift.detach().to(dtype), bias.requires_grad),
    )
