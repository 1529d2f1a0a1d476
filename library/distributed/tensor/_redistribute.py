"""Moves the elements of a distributed tensor from one placement to another, by calls of collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _operators as ops
from ... import distributed as dist
from ..device_mesh import DeviceMesh
from ._spec import level_size
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["redistributed"]


def redistributed(
    local: Any,
    shape: Sequence[int],
    mesh: DeviceMesh,
    before: Sequence[Placement],
    after: Sequence[Placement],
) -> Any:
    """Return the part of this process at other placements; the given one where nothing changes.

    Each dimension of the mesh is a step of its own. Where several of them shard one dimension of the tensor, a shard is
    undone before those that it is a part of are, and made after them.
    """
    placements = list(before)

    def step(mesh_dim: int, wanted: Placement) -> None:
        nonlocal local
        if placements[mesh_dim] != wanted:
            line = _Line(mesh, mesh_dim, shape, placements)
            local = line.moved(local, placements[mesh_dim], wanted)
            placements[mesh_dim] = wanted

    for mesh_dim in reversed(range(mesh.ndim)):
        if _must_be_undone(mesh_dim, before, after):
            step(mesh_dim, Replicate())
    for mesh_dim in range(mesh.ndim):
        step(mesh_dim, after[mesh_dim])
    return local


def _must_be_undone(mesh_dim: int, before: Sequence[Placement], after: Sequence[Placement]) -> bool:
    """True if a shard is one of several of its dimension, before or after, and those up to it do not all stay."""
    placement = before[mesh_dim]
    if not isinstance(placement, Shard):
        return False
    own, wanted = _sharders(before, placement.dim), _sharders(after, placement.dim)
    if own == wanted or (len(own) == 1 and not wanted):
        return False
    place = own.index(mesh_dim)
    return own[: place + 1] != wanted[: place + 1]


def _sharders(placements: Sequence[Placement], dim: int) -> list[int]:
    return [mesh_dim for mesh_dim, each in enumerate(placements) if each.is_shard(dim)]


class _Line:
    """The processes along one dimension of a mesh."""

    def __init__(self, mesh: DeviceMesh, mesh_dim: int, shape: Sequence[int], placements: Sequence[Placement]) -> None:
        self.mesh, self.mesh_dim, self.shape, self.placements = mesh, mesh_dim, shape, tuple(placements)
        self.size = mesh.size(mesh_dim)
        self.group = mesh.get_group(mesh_dim)
        self.rank = mesh.get_local_rank(mesh_dim)

    def moved(self, local: Any, before: Placement, after: Placement) -> Any:
        local = local.resolve_conj()
        if isinstance(before, Shard):
            if isinstance(after, Shard):
                return self.exchanged(local, before.dim, after.dim)
            whole = self.gathered(local, before.dim)
            return self.as_term(whole, after) if isinstance(after, Partial) else whole
        if isinstance(before, Partial):
            if isinstance(after, Shard) and before.reduce_op in ("sum", "avg"):
                return self.reduced_shard(local, after.dim, before.reduce_op)
            whole = self.reduced(local, before.reduce_op)
            return self.of_whole(whole, after)
        return self.of_whole(local, after)

    def of_whole(self, whole: Any, after: Placement) -> Any:
        """The part of this process where each has all elements."""
        if isinstance(after, Shard):
            return self.shard(whole, after.dim).clone()
        return self.as_term(whole, after) if isinstance(after, Partial) else whole

    def as_term(self, whole: Any, after: Partial) -> Any:
        """A term of a sum is that of the first process, and zeros of the others; of other reductions all are equal."""
        is_neutral = self.rank and after.reduce_op == "sum"
        if after.reduce_op == "product" and self.rank:
            return ops.ones_like(whole)
        return ops.zeros_like(whole) if is_neutral else whole.clone()

    # ---- shards ----

    def extent(self, size: int, rank: int) -> tuple[int, int]:
        """The size and the start of a shard."""
        return Shard.local_shard_size_and_offset(size, self.size, rank)

    def shard(self, whole: Any, dim: int) -> Any:
        size, start = self.extent(whole.size(dim), self.rank)
        return whole.narrow(dim, start, size)

    def whole_size(self, dim: int) -> int:
        return level_size(self.shape, self.mesh, self.placements, self.mesh_dim, dim)

    def padded(self, local: Any, dim: int, size: int) -> Any:
        """The tensor with zeros at the end of a dimension, so that all processes have equally many elements."""
        missing = size - local.size(dim)
        if not missing:
            return local
        padding = [*local.shape[:dim], missing, *local.shape[dim + 1 :]]
        return ops.cat([local, local.new_zeros(padding)], dim)

    def gathered(self, local: Any, dim: int) -> Any:
        size = self.whole_size(dim)
        each = -(-size // self.size)
        own = self.padded(local, dim, each).movedim(dim, 0).contiguous()
        found = own.new_empty([self.size * each, *own.shape[1:]])
        dist.all_gather_into_tensor(found, own, group=self.group)
        return found.narrow(0, 0, size).movedim(0, dim).contiguous()

    def exchanged(self, local: Any, before: int, after: int) -> Any:
        """The shard along another dimension, for which each process sends each other one a block."""
        local = local.contiguous()
        whole, size = self.whole_size(before), local.size(after)
        rows = [self.extent(whole, rank)[0] for rank in range(self.size)]
        columns = [self.extent(size, rank) for rank in range(self.size)]
        sent = [local.narrow(after, start, count) for count, start in columns]
        shapes = []
        for count in rows:
            block = list(sent[self.rank].shape)
            block[before] = count
            shapes.append(block)
        sizes = [_numel(block) for block in shapes]
        out = local.new_empty(sum(sizes))
        dist.all_to_all_single(
            out,
            ops.cat([each.reshape(-1) for each in sent]),
            output_split_sizes=sizes,
            input_split_sizes=[each.numel() for each in sent],
            group=self.group,
        )
        blocks = [part.view(block) for part, block in zip(out.split(sizes), shapes, strict=True)]
        return ops.cat(blocks, before)

    # ---- reductions ----

    def reduced(self, local: Any, word: str) -> Any:
        """The reduction of the terms of all processes."""
        if word in ("max", "min"):  # the reductions of MPI lose what is not a number
            terms = local.new_empty([self.size, *local.shape])
            dist.all_gather_into_tensor(terms, local.contiguous().unsqueeze(0), group=self.group)
            return terms.amax(0) if word == "max" else terms.amin(0)
        result = local.contiguous().clone() if local.is_contiguous() else local.contiguous()
        dist.all_reduce(result, op=dist.ReduceOp.PRODUCT if word == "product" else dist.ReduceOp.SUM, group=self.group)
        return result / self.size if word == "avg" else result

    def reduced_shard(self, local: Any, dim: int, word: str) -> Any:
        """The shard of the sum of all terms."""
        size = local.size(dim)
        each = -(-size // self.size)
        terms = self.padded(local, dim, each * self.size).movedim(dim, 0).contiguous()
        result = terms.new_empty([each, *terms.shape[1:]])
        dist.reduce_scatter_tensor(result, terms, op=dist.ReduceOp.SUM, group=self.group)
        result = result.narrow(0, 0, self.extent(size, self.rank)[0]).movedim(0, dim).contiguous()
        return result / self.size if word == "avg" else result


def _numel(sizes: Sequence[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result
