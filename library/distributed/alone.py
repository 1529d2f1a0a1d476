"""The transport of a group of one process, which needs no MPI: what a rank sends, it receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import DistBackendError

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["Alone"]


class Alone:
    """The methods of transport.py, whose results are there when they return."""

    def all_reduce(self, tensor: Tensor, kind: Any) -> list[Any]:
        """Leave the tensor as it is."""
        return []

    def reduce(self, tensor: Tensor, root: int, kind: Any) -> list[Any]:
        """Leave the tensor as it is."""
        return []

    def broadcast(self, tensor: Tensor, root: int) -> list[Any]:
        """Leave the tensor as it is."""
        return []

    def all_gather(self, output: Tensor, tensor: Tensor) -> list[Any]:
        """Copy the tensor."""
        output.view(-1).copy_(tensor.view(-1))
        return []

    def gather(self, output: Tensor | None, tensor: Tensor, root: int) -> list[Any]:
        """Copy the tensor."""
        assert output is not None
        return self.all_gather(output, tensor)

    def scatter(self, tensor: Tensor, given: Tensor | None, root: int) -> list[Any]:
        """Copy what is given."""
        assert given is not None
        return self.all_gather(tensor, given)

    def reduce_scatter(self, output: Tensor, given: Tensor, kind: Any) -> list[Any]:
        """Copy what is given."""
        return self.all_gather(output, given)

    def all_to_all(self, output: Tensor, given: Tensor, counts: Any, given_counts: Any) -> list[Any]:
        """Copy what is given."""
        return self.all_gather(output, given)

    def send(self, tensor: Tensor, peer: int, tag: int) -> list[Any]:
        """Refuse: there is nobody else."""
        raise DistBackendError(f"send to rank {peer}: the group has one rank")

    def receive(self, tensor: Tensor, peer: int, tag: int) -> list[Any]:
        """Refuse: there is nobody else."""
        raise DistBackendError(f"recv from rank {peer}: the group has one rank")
