"""Normalization by statistics of a batch, or of each of its elements; and modules that take channels from their first
input.
"""

from __future__ import annotations

from typing import Any

from ..._base.devices import has_values
from ..._base.dtypes import EXPORTS
from ..._base.warn import warn
from ..._operators import empty
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
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                share = 1.0 / float(self.num_batches_tracked)
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
    """Batch normalization of inputs with at least two dimensions, with the arguments of BatchNorm2d. There is one
    process, so nothing is synchronized."""

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

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Return the module: its batch normalization is that of one process already."""
        return module


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
        doc += _ARGUMENTS.format(mean=mean)
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
