"""Normalization by statistics of a batch, or of each of its elements; and modules that take channels from their first
input.
"""

from __future__ import annotations

from typing import Any

from ..._autograd.grad_mode import no_grad
from ..._base.devices import has_values
from ..._base.dtypes import EXPORTS
from ..._base.warn import warn
from ..._operators import cat, empty
from ..._tensor.construct import tensor
from ..._tensor.tensor import Tensor
from .. import functional
from ..parameter import UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .normalization import _Affine

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "SyncBatchNorm",
]

_BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


class _NormBase(_Affine):
    """Running statistics and parameters of channels."""

    _version = 2
    _ow_ndims: tuple[int, ...] = ()
    """The numbers of dimensions that inputs may have; none: at least two."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._ow_set_parameters(num_features, affine, affine and bias, device, dtype)
        if track_running_stats:
            self._ow_set_statistics(num_features, device, dtype)
        else:
            for name in _BUFFERS:
                self.register_buffer(name, None)
        self.reset_parameters()

    def _ow_set_statistics(self, features: int, device: Any, dtype: Any) -> None:
        for name in _BUFFERS[:2]:
            self.register_buffer(name, empty(features, device=device, dtype=dtype))
        self.register_buffer("num_batches_tracked", tensor(0, dtype=EXPORTS["int64"], device=device))

    def reset_running_stats(self) -> None:
        """Set the running mean to zeros, the running variance to ones, and the count to zero."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set statistics and parameters to what they begin with."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Any) -> None:
        if self._ow_ndims and input.dim() not in self._ow_ndims:
            wanted = " or ".join(f"{ndim}D" for ndim in self._ow_ndims)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        version = local_metadata.get("version")
        key = f"{prefix}num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            # States of the first form have no count.
            own = self.num_batches_tracked
            state_dict[key] = own if own is not None and has_values(own) else tensor(0, dtype=EXPORTS["int64"])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        self._check_input_dim(input)
        share = self._ow_count_batch()
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        keeps = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if keeps else None,
            self.running_var if keeps else None,
            self.weight,
            self.bias,
            by_batch,
            share,
            self.eps,
        )

    def _ow_count_batch(self) -> float:
        """By how much this batch moves the running statistics, in which it is counted."""
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        self._check_input_dim(input)
        without = min(self._ow_ndims)
        place = input.dim() - without
        channels = input.size(place)
        if channels != self.num_features:
            said = f"expected input's size at dim={place} to match num_features ({self.num_features})"
            if self.affine:
                raise ValueError(f"{said}, but got: {channels}.")
            warn(f"input's size at dim={place} does not match num_features. You can silence this "
                 "warning by not passing in num_features, which is not used because affine=False")  # fmt: skip
        one = not place
        result: Tensor = functional.instance_norm(
            input.unsqueeze(0) if one else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if one else result


class SyncBatchNorm(_BatchNorm):
    """Batch normalization of inputs with at least two dimensions by the statistics of the batches of all processes.

    It has the arguments of BatchNorm2d, and:

    Args:
        process_group (ProcessGroup): whose processes take part; None: all.

    Example:
        >>> opweave.nn.SyncBatchNorm(4)
        SyncBatchNorm(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape. In training all processes of the group must call it.

        Raises:
            ValueError: the input has no channels, or all processes together have one value of each.
        """
        self._check_input_dim(input)
        if not input.shape[1]:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")
        from ...distributed.process_group import group

        given = self.process_group or group.WORLD
        if not self.training or given is None or given.size() == 1:
            return super().forward(input)
        return _synchronized(self, input, self._ow_count_batch(), given)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Return a module in which all layers BatchNorm1d, 2d and 3d have become SyncBatchNorm, with their parameters.

        It is the module itself unless that is such a layer.
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                result.weight, result.bias = module.weight, module.bias
            for name in _BUFFERS:
                setattr(result, name, getattr(module, name))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


def _synchronized(module: SyncBatchNorm, input: Tensor, share: float, group: Any) -> Tensor:
    """The normalized input, by sums over the elements of all processes, through which gradients go."""
    from ...distributed.nn.functional import all_reduce

    values = input.float() if input.dtype.itemsize < 4 else input
    dims = [dim for dim in range(values.ndim) if dim != 1]
    shape = [1, -1] + [1] * (values.ndim - 2)
    own = values.new_full((1,), input.numel() // input.shape[1])
    sums = all_reduce(cat([values.sum(dims), own]), group=group)
    count = sums[-1].detach()
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    mean = sums[:-1] / count
    centred = values - mean.view(shape)
    variance = all_reduce(centred.square().sum(dims), group=group) / count
    if module.track_running_stats and module.running_mean is not None:
        with no_grad():
            module.running_mean.lerp_(mean.to(module.running_mean.dtype), share)
            module.running_var.lerp_((variance * (count / (count - 1))).to(module.running_var.dtype), share)
    result: Tensor = centred * (variance + module.eps).rsqrt().view(shape)
    if module.weight is not None:
        result = result * module.weight.view(shape)
    if module.bias is not None:
        result = result + module.bias.view(shape)
    return result.to(input.dtype)


class _LazyNorm(LazyModuleMixin):
    """Mixed into a norm: the number of channels is that of the first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: Any = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        module: Any = self
        super().__init__(0, eps, momentum, False, False, device, dtype)
        module.affine, module.track_running_stats = affine, track_running_stats
        if module.affine:
            module.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                module.bias = UninitializedParameter(device=device, dtype=dtype)
        if module.track_running_stats:
            for name in _BUFFERS[:2]:
                module.register_buffer(name, UninitializedBuffer(device=device, dtype=dtype))
            module.register_buffer("num_batches_tracked", tensor(0, dtype=EXPORTS["int64"], device=device))

    def reset_parameters(self) -> None:
        module: Any = self
        if not self.has_uninitialized_params() and module.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any) -> None:
        module: Any = self
        if self.has_uninitialized_params():
            module._check_input_dim(input)
            whole = input.dim() == max(module._ow_ndims) or not isinstance(self, _InstanceNorm)
            module.num_features = input.shape[1 if whole else 0]
            for each in (*module._parameters.values(), *module._buffers.values()):
                if hasattr(each, "materialize"):
                    each.materialize((module.num_features,))
            self.reset_parameters()


_RANGES = {1: ((2, 3), "(N, C) or (N, C, L)"), 2: ((4,), "(N, C, H, W)"), 3: ((5,), "(N, C, D, H, W)")}
_ARGUMENTS = """
    Args:
        num_features (int): C.
        eps (float): is added to the variance.
        momentum (float): by how much the running statistics move towards those of an input{mean}.
        affine (bool): whether there are a weight and a bias that are learned.
        track_running_stats (bool): whether there are running statistics, which are used in evaluation.
        device, dtype: those of parameters and statistics.
        bias (bool): whether there is a bias.

    Example:
        >>> opweave.nn.{name}(4)(opweave.ones({size})).shape
        opweave.Size([{size}])
    """


def _family(base: type, kind: str, what: str) -> list[type]:
    """The classes for one, two and three dimensions, each with the one that takes C from its first input."""
    made: list[Any] = []
    for dimensions, (ndims, shapes) in _RANGES.items():
        if kind == "Instance":
            ndims = (dimensions + 1, dimensions + 2)
            shapes = shapes.rpartition(" or ")[2] + " or " + shapes.rpartition(" or ")[2].replace("N, ", "")
        mean = "; None: the running ones are the means over all" if kind == "Batch" else ""
        doc = f"{kind} normalization of inputs {shapes}: channels are scaled by the mean and variance {what}.\n"
        doc += _ARGUMENTS.format(mean=mean, name=f"{kind}Norm{dimensions}d", size="2, 4" + dimensions * ", 8")
        names: dict[str, Any] = {"__doc__": doc, "__module__": __name__, "_ow_ndims": ndims}
        usual: Any = type(f"{kind}Norm{dimensions}d", (base,), names)
        names = {"__doc__": f"{usual.__name__} whose C is that of its first input.", "__module__": __name__}
        lazy: Any = type(f"Lazy{usual.__name__}", (_LazyNorm, usual), {**names, "cls_to_become": usual})
        made += [usual, lazy]
    return made


BatchNorm1d, LazyBatchNorm1d, BatchNorm2d, LazyBatchNorm2d, BatchNorm3d, LazyBatchNorm3d = _family(
    _BatchNorm, "Batch", "over the batch and all positions"
)
(
    InstanceNorm1d, LazyInstanceNorm1d, InstanceNorm2d, LazyInstanceNorm2d, InstanceNorm3d, LazyInstanceNorm3d
) = _family(_InstanceNorm, "Instance", "over all positions of one element of the batch")  # fmt: skip
