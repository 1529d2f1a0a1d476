"""An optimizer each of whose ranks keeps the state of some parameters only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...optim.optimizer import Optimizer
from ..algorithms.join import Join, Joinable, JoinHook
from ..objects import gather_object
from ..process_group import given_group
from ..utils import _broadcast_coalesced

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Steps of another optimizer, of which each rank does those of its parameters, and copies these to all others.

    Parameters belong to ranks as wholes, so that all have about as many elements.

    Args:
        params: tensors, or dicts of groups with options of their own.
        optimizer_class (type): that of the optimizer.
        process_group (ProcessGroup): whose ranks take part; None: all.
        parameters_as_bucket_view (bool): without effect.
        overlap_with_ddp (bool): False.
        defaults: the options of the optimizer.

    Raises:
        ValueError: there are no parameters, or there is no group of processes.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise RuntimeError("overlap_with_ddp is not there yet: leave it False")
        self.process_group = given_group(process_group)
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self._owners: dict[Any, int] = {}
        self._sizes = [0] * self.world_size
        self._is_made = False
        Optimizer.__init__(self, params, defaults)
        Joinable.__init__(self)
        self.optim = optimizer_class([self._own(group) for group in self.param_groups], **defaults)
        self._copy_options(self.optim.param_groups, self.param_groups)
        self._consolidated: list[dict[str, Any]] | None = None
        self._is_made = True

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own, on all ranks: a dict with the key "params"."""
        super().add_param_group(param_group)
        for each in sorted(param_group["params"], key=lambda each: each.numel(), reverse=True):
            owner = min(range(self.world_size), key=self._sizes.__getitem__)
            self._owners[each] = owner
            self._sizes[owner] += each.numel()
        if self._is_made:
            self.optim.add_param_group(self._own(param_group))
            self._copy_options(self.optim.param_groups, self.param_groups)

    def _own(self, group: dict[str, Any]) -> dict[str, Any]:
        """A group with the parameters of this rank."""
        return {**group, "params": [each for each in group["params"] if self._owners[each] == self.rank]}

    @staticmethod
    def _copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
        for given, taken in zip(source, target, strict=True):
            taken.update({name: value for name, value in given.items() if name != "params"})

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Change the parameters of all ranks once, and return the loss, if `closure` computes it."""
        Join.notify_join_context(self)
        self._copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(closure, **kwargs)
        for owner in range(self.world_size):
            owned = [each for each, rank in self._owners.items() if rank == owner]
            if owned:
                _broadcast_coalesced(self.process_group, owned, owner)
        self._copy_options(self.optim.param_groups, self.param_groups)
        return loss

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the states of all ranks on one of the group, for `state_dict`; all ranks must call it."""
        self._copy_options(self.param_groups, self.optim.param_groups)
        every: list[Any] | None = [None] * self.world_size if self.rank == to else None
        gather_object(self.optim.state_dict(), every, group=self.process_group, group_dst=to)
        self._consolidated = every

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all parameters, as it was when `consolidate_state_dict` was called.

        Raises:
            RuntimeError: it was not called, or for another rank.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the global "
                "state."
            )
        indices = {each: index for index, each in enumerate(self._parameters())}
        state: dict[int, Any] = {}
        for rank, found in enumerate(self._consolidated):
            owned = [indices[each] for each in indices if self._owners[each] == rank]
            state.update({owned[index]: each for index, each in found["state"].items()})
        groups = [{**group, "params": [indices[each] for each in group["params"]]} for group in self.param_groups]
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of all parameters, of which this rank keeps its own."""
        owned = [index for index, each in enumerate(self._parameters()) if self._owners[each] == self.rank]
        places = {index: place for place, index in enumerate(owned)}
        state = {places[index]: each for index, each in state_dict["state"].items() if index in places}
        groups = [
            {**group, "params": [places[index] for index in group["params"] if index in places]}
            for group in state_dict["param_groups"]
        ]
        self.optim.load_state_dict({"state": state, "param_groups": groups})
        self._copy_options(self.optim.param_groups, self.param_groups)

    def _parameters(self) -> list[Any]:
        return [each for group in self.param_groups for each in group["params"]]

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the calls that a rank without inputs makes: steps, by the gradients that it has."""
        return _JoinHook(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self._parameters()[0].device

    @property
    def join_process_group(self) -> Any:
        """The group of the ranks that take part."""
        return self.process_group


class _JoinHook(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        self._optimizer.step()
