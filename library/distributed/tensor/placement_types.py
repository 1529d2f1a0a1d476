"""Placements: how the elements of a tensor lie on the processes along one dimension of a mesh.

Shards are those of `chunk`: all but the last ones have the size of the first, and the last ones may be empty.
"""

from __future__ import annotations

from typing import Any

from ..._names.refusals import refused_class

__all__ = ["Partial", "Placement", "Replicate", "Shard"]

_StridedShard = refused_class(
    __name__, "_StridedShard", "shards of shards are in the order of the dimensions of the mesh. Use Shard"
)


class Placement:
    """The base class of placements."""

    __slots__ = ()

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether each process has a part along a dimension: along `dim`, if that is given."""
        return False

    def is_replicate(self) -> bool:
        """Return whether each process has all elements."""
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return whether the elements are those of all processes, reduced: by `reduce_op`, if that is given."""
        return False


class Shard(Placement):
    """Each process has a part of the tensor along a dimension.

    Args:
        dim (int): the dimension of the tensor; a negative one counts from the end where a tensor is at hand.
    """

    __slots__ = ("dim",)

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or self.dim == dim

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """Return the number of elements that a process has along the dimension, and the position of the first."""
        each = -(-curr_local_size // num_chunks)
        start = min(each * rank, curr_local_size)
        return min(each, curr_local_size - start), start

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shard) and self.dim == other.dim

    def __hash__(self) -> int:
        return hash((Shard, self.dim))

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"

    def __str__(self) -> str:
        return f"S({self.dim})"


class Replicate(Placement):
    """Each process has all elements."""

    __slots__ = ()

    def is_replicate(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replicate)

    def __hash__(self) -> int:
        return hash(Replicate)

    def __repr__(self) -> str:
        return "Replicate()"

    def __str__(self) -> str:
        return "R"


class Partial(Placement):
    """Each process has a term for each element, and the tensor is what they reduce to.

    Args:
        reduce_op (str): `sum`, `avg`, `product`, `max` or `min`.
    """

    __slots__ = ("reduce_op",)

    ALL_REDUCE_OPS = frozenset({"sum", "avg", "product", "max", "min"})

    def __init__(self, reduce_op: str = "sum") -> None:
        if reduce_op not in self.ALL_REDUCE_OPS:
            expected = ", ".join(sorted(self.ALL_REDUCE_OPS))
            raise ValueError(f"Partial() expects one of the reductions {expected}, but got {reduce_op!r}")
        self.reduce_op = reduce_op

    def is_partial(self, reduce_op: str | None = None) -> bool:
        return reduce_op is None or self.reduce_op == reduce_op

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partial) and self.reduce_op == other.reduce_op

    def __hash__(self) -> int:
        return hash((Partial, self.reduce_op))

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


def normalized(placements: Any, mesh_ndim: int, tensor_ndim: int) -> tuple[Placement, ...]:
    """Return placements, one for each dimension of a mesh, with dimensions of the tensor counted from its first one.

    Raises:
        TypeError: one of them is no placement.
        ValueError: there are not as many as the mesh has dimensions, or reductions of several kinds.
        IndexError: the tensor has no such dimension.
    """
    found = tuple(placements)
    for each in found:
        if not isinstance(each, Placement):
            raise TypeError(f"placements must be Shard, Replicate or Partial, but got {type(each).__name__}")
    if len(found) != mesh_ndim:
        raise ValueError(
            f"`placements` must have the same length as `device_mesh.ndim`! Found placements length: {len(found)}, and "
            f"device_mesh.ndim: {mesh_ndim}."
        )
    if len({each.reduce_op for each in found if isinstance(each, Partial)}) > 1:
        raise ValueError(f"placements must have Partial of one reduction alone, but got {list(found)}")
    return tuple([_counted(each, tensor_ndim) if isinstance(each, Shard) else each for each in found])


def _counted(shard: Shard, ndim: int) -> Shard:
    if not -ndim <= shard.dim < ndim:
        raise IndexError(
            f"Shard(dim={shard.dim}) of a tensor with {ndim} dimensions: expected a dimension in [{-ndim}, {ndim - 1}]"
        )
    return Shard(shard.dim % ndim)
