"""Training with uneven inputs: ranks that have none left make the calls that the others wait for."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

from ... import ones, zeros
from ..collectives import all_reduce
from ..work import Work

__all__ = ["Join", "JoinHook", "Joinable"]

_SKEW = 1000
"""From so many missing inputs on a rank warns."""


class JoinHook:
    """The calls of a rank that has no inputs left. Derived classes define one or both methods."""

    def main_hook(self) -> None:
        """Make the calls of one iteration; called while another rank has inputs."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Make the calls that come last, when no rank has inputs left.

        Args:
            is_last_joiner (bool): whether this rank was among the last that had some.
        """


class _JoinConfig(NamedTuple):
    """The part of a Joinable in the context that is open, if one is."""

    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False


class Joinable(ABC):
    """Base class of what calls collectives in each iteration, and can be given to Join."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the calls of a rank without inputs; the keyword arguments are those of Join."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Return the device on which Join makes its tensors."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """Return the group whose ranks have uneven inputs."""


class Join:
    """A context in which ranks may have different numbers of inputs.

    A rank that leaves it early makes the collective calls of the others until none has inputs left.

    Args:
        joinables (list of Joinable): what calls collectives; all of the same group.
        enable (bool): False: the context does nothing.
        throw_on_early_termination (bool): raise RuntimeError on all ranks when one has no inputs left.
        kwargs: given to each `join_hook`.

    Raises:
        ValueError: there are no joinables, or they are of several groups.
    """

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [each.join_hook(**kwargs) for each in joinables]
        self._enable = enable
        self._throw_on_early_termination = throw_on_early_termination
        for each in joinables:
            each._join_config = _JoinConfig(enable, throw_on_early_termination, each is joinables[0])
        self._process_group = joinables[0].join_process_group
        self._device = joinables[0].join_device
        if any(each.join_process_group != self._process_group for each in joinables):
            raise ValueError("Using join context manager with multiple process groups")

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._enable or type is not None:
            return
        count = 0
        while self._count_active():
            if self._throw_on_early_termination:
                all_reduce(ones(1, device=self._device), group=self._process_group)
                raise RuntimeError(f"Rank {self._process_group.rank()} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            count += 1
            if count == _SKEW:
                warnings.warn(
                    f"Detected uneven input skew of greater than {_SKEW}. This means that rank "
                    f"{self._process_group.rank()} has at least {_SKEW} fewer inputs than other currently-active "
                    "ranks. This level of skew could lead to performance degradation during training.",
                    stacklevel=2,
                )
        for hook in self._join_hooks:
            hook.post_hook(not count)

    def _count_active(self) -> int:
        """The number of ranks that have inputs."""
        active = zeros(1, device=self._device)
        all_reduce(active, group=self._process_group)
        return int(active.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Say that this rank has inputs; called by joinables at the beginning of an iteration.

        Returns:
            The Work that counts such ranks, for the first joinable of an open context; None for others.

        Raises:
            RuntimeError: a rank has no inputs left, in a context that throws.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        work = all_reduce(ones(1, device=device), group=group, async_op=True)
        if config.throw_on_early_termination:
            ended = zeros(1, device=device)
            all_reduce(ended, group=group)
            if ended.item():
                raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work
