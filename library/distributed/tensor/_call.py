"""A call of an operator with distributed tensors, and the placements at which it can be computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..._autograd.record import derivative
from ..._base.dtypes import EXPORTS
from ..._base.handles import tensors_in
from ..._base.pytree import flatten
from ..._base.tensor_class import Tensor
from ..._dispatch.op import Op
from .placement_types import Partial, Placement, Replicate, Shard

REPLICATE, SUM = Replicate(), Partial("sum")


class Strategy(NamedTuple):
    """Placements along one dimension of a mesh at which the parts of results follow from the parts of tensors.

    Attributes:
        inputs: one for each tensor of the call, those of lists among them.
        results: one for each result.
    """

    inputs: tuple[Placement, ...]
    results: tuple[Placement, ...]


class Call:
    """A call of an operator: what the rules of sharding look at.

    Attributes:
        op: the operator.
        args: its arguments in schema order.
        tensors: the tensors among them, those of lists too.
        results: what the call results in, without elements; sizes are those of the whole.
        processes: the number of processes of the mesh.
    """

    def __init__(self, op: Op, args: Sequence[Any], described: Any, processes: int) -> None:
        self.op, self.args, self.processes = op, args, processes
        self.tensors = tensors_in(args)
        self.results: list[Any] = [each for each in flatten(described)[0] if isinstance(each, Tensor)]

    def argument(self, name: str) -> Any:
        """Return the argument of this name."""
        return self.args[self.op.names.index(name)]

    def place(self, name: str) -> int:
        """Return the place of an argument among the tensors."""
        return len(tensors_in(self.args[: self.op.names.index(name)]))

    @property
    def target(self) -> Any:
        """The tensor that the method is called of."""
        return self.args[self.op.target]

    def is_even(self, size: int) -> bool:
        """Return whether all processes have equally many elements of a dimension, however it is sharded."""
        return size % self.processes == 0

    def alike(self, placement: Placement) -> Strategy:
        """The strategy in which all tensors and results have one placement."""
        return Strategy((placement,) * len(self.tensors), (placement,) * len(self.results))

    @cached_property
    def groups(self) -> tuple[frozenset[int], ...]:
        """The groups of arguments of which together the result is a linear function, by their places in the schema."""
        kind = derivative(self.op)
        return () if kind is None else tuple(map(frozenset, kind.linear))

    @cached_property
    def argument_places(self) -> list[int]:
        """The place in the schema of each tensor."""
        return [place for place, value in enumerate(self.args) for _ in tensors_in([value])]

    def is_linear_group(self, group: frozenset[int]) -> bool:
        """Return whether all arguments of a group are tensors of the results' dtype, so that a sum of them is one of
        results. Sums of bool are none: there `or` adds."""
        values = [self.args[place] for place in group]
        tensors = tensors_in(values)
        if not tensors or not all(bool(tensors_in([value])) or value is None for value in values):
            return False
        return {each.dtype for each in (*tensors, *self.results)} == {tensors[0].dtype} != {EXPORTS["bool"]}


def replicated(call: Call) -> Strategy:
    """The strategy in which each process computes all."""
    return call.alike(REPLICATE)


def sharded(call: Call, dims: Sequence[int | None], results: Sequence[Placement]) -> Strategy:
    """The strategy in which tensors are sharded along these dimensions; None: each process has all of it."""
    return Strategy(tuple([REPLICATE if dim is None else Shard(dim) for dim in dims]), tuple(results))
