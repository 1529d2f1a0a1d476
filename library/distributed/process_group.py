"""Groups of processes: which ranks they have, and the communicators by which these agree and move tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from opweave._C import lib

from .agreement import Agreement, Message
from .alone import Alone
from .backends import Backend
from .errors import DistBackendError
from .transport import Transport

if TYPE_CHECKING:
    from .engine import Engine
    from .stores import Store
    from .work import Agreed

__all__ = ["GroupMember", "ProcessGroup", "default_group", "given_group", "group", "is_outside"]


class ProcessGroup:
    """Processes that call functions together. `rank()` is the number of this one among them, `size()` how many they
    are.

    Groups are made by init_process_group and new_group.
    """

    def __init__(
        self,
        engine: Engine | None,
        comm: Any,
        ranks: Sequence[int],
        global_rank: int,
        backend: Backend,
        timeout: timedelta,
        name: str,
        description: str,
        store: Store | None = None,
    ) -> None:
        self.engine = engine
        self.ranks = list(ranks)
        self.global_rank = global_rank
        self.backend = backend
        self.group_name = name
        self.group_desc = description
        self.store = store
        self.last: Agreed | None = None
        self._abandoned: list[Any] = []
        self._broken: Exception | None = None
        self.set_timeout(timeout)
        self._rank = self.ranks.index(global_rank)
        self.transport: Transport | Alone = Alone()
        self.agreement = Agreement(None, None)
        if engine is not None and len(self.ranks) > 1:
            self.transport = Transport(engine, comm)
            self.agreement = Agreement(engine, engine.duplicate(comm, self.ranks, self.seconds))

    def rank(self) -> int:
        """Return the number of this process in the group."""
        return self._rank

    def size(self) -> int:
        """Return the number of processes in the group."""
        return len(self.ranks)

    def name(self) -> str:
        """Return the name of the backend."""
        return self.backend

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long a call may wait for other ranks."""
        self.timeout = timeout
        self.seconds = timeout.total_seconds()

    def begin(self, number: int, tensor: float, combination: int) -> Message:
        """Begin to find out whether all ranks make the call of this number; the message, in which a tensor's elements
        are."""
        if self._broken is not None:
            raise DistBackendError(f"the group cannot go on, as a call has failed: {self._broken}") from self._broken
        message = self.agreement.next()
        owner = message.owner
        if owner is not None:
            self.wait(owner._begin, self.ranks, owner._describe, self.seconds)
        lib.message_begin(message.address, number, combination, tensor)
        if message.request is not None:
            message.request.Start()
        return message

    def explain(self, describe: Any, members: Sequence[int], error: RuntimeError) -> DistBackendError:
        """The error to raise in place of one of MPI, which may be that of a rank that has ended."""
        try:
            self.wait(lambda: False, members, describe, 1.0)
        except DistBackendError as found:
            if any(rank in self.engine.watch.gone for rank in members):  # type: ignore[union-attr]
                return found
        return DistBackendError(f"{describe} on rank {self.global_rank}: {error}")

    def give_up(self, work: Any, error: Exception) -> None:
        """Refuse all later calls, as ranks may have done different parts of this one. MPI may go on with its memory:
        it is kept."""
        self._abandoned.append(work)
        self._broken = error

    def describe_all(self, text: bytes) -> list[str]:
        """The texts of all ranks, each as long as this one."""
        texts = bytearray(len(text) * self.size())
        byte = self.engine.mpi.BYTE  # type: ignore[union-attr]
        request = self.transport.comm.Iallgather([text, byte], [texts, len(text), byte])  # type: ignore[union-attr]
        self.wait(request.Test, self.ranks, lambda: "a call on which ranks disagree", min(self.seconds, 10))
        return [texts[k : k + len(text)].rstrip(b"\0").decode() for k in range(0, len(texts), len(text))]

    def free(self) -> None:
        """Give the communicators back, of which MPI has some thousands. Those of calls that have failed, or are under
        way, may be in use."""
        if isinstance(self.transport, Transport) and self._broken is None and self.last is None:
            self.agreement.free()
            self.transport.comm.Free()

    def wait(self, is_done: Callable[[], bool], members: Sequence[int], describe: Any, seconds: float) -> None:
        """Wait for a call, as watch.py does."""
        if self.engine is not None:
            self.engine.watch.wait(is_done, members, lambda: f"{describe} on rank {self.global_rank}", seconds)

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} of ranks {self.ranks}>"

    def __deepcopy__(self, memo: Any) -> ProcessGroup:
        return self


class _Group(type):
    _world: ProcessGroup | None = None

    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802 (torch's name)
        """The group of all processes; None before init_process_group."""
        return _Group._world

    @WORLD.setter
    def WORLD(cls, group: ProcessGroup | None) -> None:  # noqa: N802
        _Group._world = group


class group(metaclass=_Group):  # noqa: N801 (torch's name)
    """The namespace in which programs look for the group of all processes: WORLD."""


class GroupMember(metaclass=_Group):
    """The namespace in which programs look for the group of all processes (WORLD), and for what stands for a group
    that this process is no member of."""

    NON_GROUP_MEMBER = -100


def default_group() -> ProcessGroup:
    """The group of all processes.

    Raises:
        ValueError: there is none yet.
    """
    world = GroupMember.WORLD
    if world is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return world


def given_group(group: ProcessGroup | None) -> ProcessGroup:
    """A group that a function was given; None: that of all processes."""
    return default_group() if group is None else group


def is_outside(group: Any) -> bool:
    """Whether this process is no member of the group."""
    return isinstance(group, int) and group == GroupMember.NON_GROUP_MEMBER
