"""opweave.nn.init: initialization of parameters, as in torch.nn.init; with the same seed the same numbers.

Every function writes to a tensor in place, without recording it, and returns the tensor.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from .._autograd.grad_mode import no_grad
from .._operators import empty, empty_like, randperm, where
from ..linalg import qr

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
_GAINS = {"sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4, **dict.fromkeys(_LINEAR, 1)}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain of a nonlinearity: the factor by which weights before it are larger.

    Args:
        nonlinearity (str): the name of a function in nn.functional.
        param (float): its parameter; of `leaky_relu` the slope, 0.01 if None.

    Raises:
        ValueError: the function is not known, or the parameter no number.
    """
    if nonlinearity == "leaky_relu":
        slope: Any = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _filled(tensor: Any, fill: Callable[[Any], Any]) -> Any:
    with no_grad():
        fill(tensor)
    return tensor


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill with numbers that are uniformly distributed between `a` and `b`."""
    return _filled(tensor, lambda each: each.uniform_(a, b, generator=generator))


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill a tensor with normally distributed numbers of these `mean` and `std`."""
    return _filled(tensor, lambda each: each.normal_(mean, std, generator=generator))


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Fill with numbers of the normal distribution truncated to the range from `a` to `b`."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    def fill(each: Any) -> None:
        if below((b - mean) / std) - below((a - mean) / std) > 0.3:
            low, high = each.new_tensor([a, b]).tolist()
            each.normal_(mean, std, generator=generator)
            while (outside := (each < low) | (each > high)).any():
                each.copy_(where(outside, empty_like(each).normal_(mean, std, generator=generator), each))
            return
        # Few of the normal numbers would do: uniform ones are kept by the density instead.
        top = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
        pending: Any = None
        while pending is None or pending.any():
            drawn = empty_like(each).uniform_(a, b, generator=generator)
            each.copy_(drawn if pending is None else where(pending, drawn, each))
            density = drawn.sub_(mean).div_(std).square_().mul_(-0.5).sub_(top)
            refused = empty_like(each).uniform_(generator=generator).log_() > density
            pending = refused if pending is None else pending & refused

    return _filled(tensor, fill)


def constant_(tensor: Any, val: float) -> Any:
    """Fill a tensor with `val`."""
    return _filled(tensor, lambda each: each.fill_(val))


def ones_(tensor: Any) -> Any:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill with zeros."""
    return _filled(tensor, lambda each: each.zero_())


def eye_(tensor: Any) -> Any:
    """Fill a matrix with the identity.

    Raises:
        ValueError: it has not two dimensions.
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")

    def fill(each: Any) -> None:
        each.zero_()
        each.diagonal().fill_(1)

    return _filled(tensor, fill)


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Fill a weight of convolutions with Dirac deltas, so that as many channels as possible are passed on.

    Args:
        tensor (Tensor): of 3, 4 or 5 dimensions.
        groups (int): groups of the convolution.

    Raises:
        ValueError: the number of dimensions is another one, or the groups do not divide the channels.
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    channels, inputs, *kernel = tensor.size()
    if channels % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each_group = channels // groups
    middle = tuple(size // 2 for size in kernel)

    def fill(each: Any) -> None:
        each.zero_()
        for group in range(groups):
            for channel in range(min(each_group, inputs)):
                place = (group * each_group + channel, channel, *middle)
                each[place] = 1

    return _filled(tensor, fill)


def _fans(tensor: Any) -> tuple[int, int]:
    """Return the numbers of inputs of a unit (fan in), and of units that an input goes to (fan out)."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


_calculate_fan_in_and_fan_out = _fans


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill with uniform numbers whose variance is `2 * gain ** 2 / (fan_in + fan_out)` (Glorot and Bengio, 2010)."""
    std = gain * math.sqrt(2.0 / float(sum(_fans(tensor))))
    limit = math.sqrt(3.0) * std
    return uniform_(tensor, -limit, limit, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill with normal numbers whose variance is `2 * gain ** 2 / (fan_in + fan_out)` (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_correct_fan(tensor, mode))


def _correct_fan(tensor: Any, mode: str) -> int:
    """The number of inputs or of outputs. Raises ValueError for another mode."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode == "fan_out"]


_calculate_correct_fan = _correct_fan


def _is_empty(tensor: Any) -> bool:
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Fill with uniform numbers whose variance is `gain ** 2 / fan` (He and others, 2015).

    Args:
        tensor (Tensor): of at least two dimensions.
        a (float): the slope of `leaky_relu`.
        mode (str): `fan_in` or `fan_out`, of which the variance is kept.
        nonlinearity (str): a name that `calculate_gain` knows.
        generator (Generator): None: the default one.

    Raises:
        ValueError: there are too few dimensions, or a name is not known.
    """
    if _is_empty(tensor):
        return tensor
    limit = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -limit, limit, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Fill with normal numbers whose variance is `gain ** 2 / fan`. The arguments are those of `kaiming_uniform_`."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Fill with an orthogonal matrix, whose rows are the first dimension, times `gain` (Saxe and others, 2013).

    Raises:
        ValueError: there are fewer than two dimensions.
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows

    def fill(each: Any) -> None:
        flat = empty(rows, columns, dtype=each.dtype).normal_(0, 1, generator=generator)
        if rows < columns:
            flat = flat.t()
        q, r = qr(flat)
        q = q * r.diagonal().sign()  # so that it is uniform among the orthogonal ones
        if rows < columns:
            q = q.t()
        each.view_as(q).copy_(q)
        each.mul_(gain)

    return _filled(tensor, fill)


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Fill a matrix with normal numbers, and a share `sparsity` of each column with zeros (Martens, 2010).

    Raises:
        ValueError: it has not two dimensions.
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)

    def fill(each: Any) -> None:
        each.normal_(0, std, generator=generator)
        for column in range(columns):
            each[randperm(rows)[:zeros], column] = 0

    return _filled(tensor, fill)


def _old_name(new: Callable[..., Any]) -> Callable[..., Any]:
    name = new.__name__[:-1]

    def old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return new(*args, **kwargs)

    old.__name__, old.__doc__ = name, f"The same as `{name}_`, which is to be used."
    return old


for _new in (
    uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_,
    orthogonal_, sparse_,
):  # fmt: skip
    globals()[_new.__name__[:-1]] = _old_name(_new)
