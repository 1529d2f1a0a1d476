"""A parameter of which each process keeps a shard, and all of it while a module computes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ... import empty, full, mul, zeros
from ...nn import Module, Parameter
from ...nn.parameter import is_lazy
from ..device_mesh import DeviceMesh
from ..process_group import ProcessGroup
from ..tensor._parts import is_distributed, made, part_of
from ..tensor._spec import Part, extents
from ..tensor.placement_types import Placement, Replicate, Shard

__all__ = ["Layout", "Owner", "ShardedParameter"]


class Layout(NamedTuple):
    """The processes that share parameters, and those that have the same shards."""

    mesh: DeviceMesh
    shards: ProcessGroup
    replicas: ProcessGroup | None

    def placements(self, shard: Shard) -> tuple[Placement, ...]:
        """Return the placements of parameters that are sharded so."""
        return (shard,) if self.replicas is None else (Replicate(), shard)


class Owner(NamedTuple):
    """A module and the name that a parameter has in it."""

    module: Module
    name: str


class ShardedParameter:
    """A parameter: `sharded` is what optimizers and state dicts see, `whole` what modules compute with.

    The whole one is a leaf of graphs, which stays the same while its memory comes and goes.

    Args:
        name: from the module that is sharded, for messages.
        owners: the modules that have it.
        original: the parameter with all elements, which is replaced.
        layout (Layout): the processes.
        shard (Shard): the dimension along which it is divided.

    Raises:
        NotImplementedError: it is a DTensor, not contiguous, or divided unevenly along another dimension than the
            first.
        ValueError: it is uninitialized, a scalar or no leaf, or another group of parameters has it.
    """

    def __init__(self, name: str, owners: Sequence[Owner], original: Any, layout: Layout, shard: Shard) -> None:
        _check(name, original)
        ranks = layout.shards.size()
        self.name, self.owners, self.layout = name, owners, layout
        self.shape = tuple(original.shape)
        self.dim = shard.dim % len(self.shape)
        if self.dim and self.shape[self.dim] % ranks:
            raise NotImplementedError(
                f"FSDP does not support uneven sharding on dim {self.dim}: {original.shape} (world size: {ranks})"
            )
        self.placements = layout.placements(Shard(self.dim))
        self.local_shape, offsets = extents(self.shape, layout.mesh, self.placements)
        self.count = prod(self.shape) // ranks if self.dim else -(-self.shape[0] // ranks) * prod(self.shape[1:])
        """The number of elements that each process sends, with those that fill up a smaller shard."""
        local = original.detach().narrow(self.dim, offsets[self.dim], self.local_shape[self.dim]).clone()
        self.sharded = Parameter(self._distributed(local.contiguous()), original.requires_grad)
        self.whole: Any = None
        self.gradient: Any = None
        """The gradient of the whole one that has not been reduced yet."""
        original._is_sharded = True
        self.register(self.sharded)

    def _distributed(self, local: Any) -> Any:
        return made(Part(local, self.layout.mesh, self.placements), self.shape)

    def register(self, tensor: Any) -> None:
        """Let the modules have this tensor."""
        for module, name in self.owners:
            module._parameters[name] = tensor

    def refresh(self) -> None:
        """Take what the modules have by now in place of the shard: loading and moving modules may replace it.

        Raises:
            RuntimeError: it is no DTensor.
        """
        module, name = self.owners[0]
        found = module._parameters[name]
        if not is_distributed(found):
            raise RuntimeError(
                f"{self.name} of a sharded module must be a DTensor, but it was replaced by a {type(found).__name__}. "
                "Load whole tensors by distributed.checkpoint.state_dict.set_model_state_dict()"
            )
        self.sharded = found

    # ---- elements ----

    def shard(self, dtype: Any) -> Any:
        """The elements that this process sends, in one dimension."""
        local = part_of(self.sharded).local.detach().to(dtype).reshape(-1)
        if local.numel() == self.count:
            return local
        result = zeros(self.count, dtype=dtype)
        result[: local.numel()] = local
        return result

    def fill(self, memory: Any, shards: Any) -> None:
        """Write the shards of all processes, one in each row, to memory, and let the modules have the whole one."""
        if self.dim:
            by_rank = memory.view(self.shape).unflatten(self.dim, (shards.shape[0], -1)).movedim(self.dim, 0)
            by_rank.copy_(shards.unflatten(1, by_rank.shape[1:]))
        else:
            memory.view(shards.shape).copy_(shards)
        if self.whole is None or self.whole.dtype is not memory.dtype:
            self.whole = Parameter(_released(self.shape, memory.dtype), self.sharded.requires_grad)
        self.whole.data = memory[: prod(self.shape)].view(self.shape)
        self.whole.requires_grad_(self.sharded.requires_grad)
        self.register(self.whole)

    def release(self) -> None:
        """Let the modules have the shard."""
        self.whole.data = _released(self.shape, self.whole.dtype)
        self.register(self.sharded)

    # ---- gradients ----

    def take_gradient(self, dtype: Any) -> None:
        """Move the gradient that backward passes have brought to those that are to be reduced, in another dtype."""
        grad = None if self.whole is None else self.whole.grad
        if grad is None:
            return
        self.whole.grad = None
        if self.gradient is None:
            self.gradient = grad.to(dtype or grad.dtype)
        else:
            self.gradient.add_(grad)

    def spread_gradient(self, rows: Any, scale: float) -> None:
        """Write the gradient by shards, one in each row, multiplied by a number, and forget it."""
        grad, self.gradient = self.gradient, None
        if grad is None:
            rows.zero_()
        elif self.dim:
            by_rank = grad.unflatten(self.dim, (rows.shape[0], -1)).movedim(self.dim, 0)
            mul(by_rank, scale, out=rows.unflatten(1, by_rank.shape[1:]))
        else:
            flat = grad.reshape(-1)
            full_rows, rest = divmod(flat.numel(), self.count) if self.count else (0, 0)
            mul(flat[: full_rows * self.count].view(full_rows, self.count), scale, out=rows[:full_rows])
            if full_rows < rows.shape[0]:
                mul(flat[full_rows * self.count :], scale, out=rows[full_rows, :rest])
                rows[full_rows, rest:].zero_()
                rows[full_rows + 1 :].zero_()

    def add_gradient(self, shard: Any) -> None:
        """Add what was reduced to the gradient of the shard."""
        local = shard[: prod(self.local_shape)].view(self.local_shape).to(self.sharded.dtype)
        grad = self._distributed(local)
        if self.sharded.grad is None:
            self.sharded.grad = grad
        else:
            self.sharded.grad.add_(grad)


def _check(name: str, original: Any) -> None:
    if is_distributed(original):
        raise NotImplementedError(
            f"fully_shard() of parameters that are DTensors is not there, but {name} is one with placements "
            f"{original.placements}. Shard the module before, or apply only one of both"
        )
    if is_lazy(original):
        raise ValueError(
            f"fully_shard() expects parameters with sizes, but {name} is uninitialized. Call the module once"
        )
    if not original.is_leaf:
        raise ValueError(f"fully_shard() expects parameters that are leaves, but {name} was computed from others")
    if getattr(original, "_is_sharded", False):
        raise ValueError(
            f"Parameter '{name}' is shared with a parameter already managed by another FSDP group. For shared/tied "
            "parameters, use fully_shard([module_a, module_b]) to place them in the same FSDP group."
        )
    if not original.ndim:
        raise ValueError(
            f"fully_shard doesn't support scalar parameters. Change {name} to a 1D tensor with numel equal to 1."
        )
    if not original.is_contiguous():
        raise NotImplementedError(
            f"FSDP does not support non-contiguous parameters yet: param.shape={original.shape} "
            f"param.stride()={original.stride()}"
        )


def _released(shape: Sequence[int], dtype: Any) -> Any:
    """The elements of a whole parameter while its memory is released: one that is no number, at all places."""
    if dtype.is_floating_point or dtype.is_complex:
        return full((1,), float("nan"), dtype=dtype).expand(shape)
    return empty(1, dtype=dtype).expand(shape)
