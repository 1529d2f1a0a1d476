"""The messages by which the ranks of a group find out whether they make the same call.

A call's number is a hash of the function, the dtype and the shape, of which all ranks learn the lowest and the
highest. The elements of a small reduction travel in the same message, and a barrier is nothing else.

Messages and the requests of MPI that combine them are made once and used in turns, the same ones on all ranks: a
persistent request takes half the time of a new one.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from opweave._C import lib

from .transport import make_operation

if TYPE_CHECKING:
    from .engine import Engine
    from .work import Agreed

__all__ = ["TEXT_BYTES", "Agreement", "Call"]

TEXT_BYTES = 256
"""The length of texts that ranks send one another."""

_COUNT = 32
"""Messages: as many calls of a group may be under way before all ranks have arrived at the first of them."""

_NAMES = (
    "barrier", "broadcast", "all_reduce", "reduce", "all_gather", "gather", "scatter", "reduce_scatter", "all_to_all",
    "new_group",
)  # fmt: skip
_NUMBERS = {name: number for number, name in enumerate(_NAMES)}


class Call:
    """A call of a rank: the name of the function, and what must be the same on all ranks."""

    __slots__ = ("kind", "name", "numbers", "root", "tensor")

    def __init__(self, name: str, tensor: Any = None, kind: Any = None, root: int = -1, numbers: Any = ()) -> None:
        self.name = name
        self.tensor = tensor
        self.kind = kind
        self.root = root
        self.numbers = numbers

    def number(self) -> int:
        """A number that differs, in all likelihood, from that of another call: hashes of integers are those of every
        process."""
        tensor = self.tensor
        if tensor is None:
            return hash((_NUMBERS[self.name], self.numbers))
        kind = -1 if self.kind is None else self.kind  # the hash of None differs between processes
        return hash((_NUMBERS[self.name], kind, self.root, tensor.dtype.code, tensor.shape))

    def __str__(self) -> str:
        parts = []
        if self.tensor is not None:
            parts.append(f"{self.tensor.dtype._name}{list(self.tensor.shape)}")
        if self.kind is not None:
            parts.append(self.kind.name)
        if self.root >= 0:
            parts.append(f"root {self.root}")
        parts += [f"{list(each)}" for each in (self.numbers,) if each]
        return f"{self.name}({', '.join(parts)})"


class Message:
    """The memory of a message, and the request by which MPI combines it with those of other ranks (None: there are
    none).

    `owner` is the call that has it, until all ranks have agreed.
    """

    __slots__ = ("address", "memory", "owner", "request")

    def __init__(self) -> None:
        self.memory = bytearray(lib.message_size())
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.request: Any = None
        self.owner: Agreed | None = None

    def is_there(self) -> bool:
        """Whether the messages of all ranks have arrived."""
        return self.request is None or self.request.Test()


class Agreement:
    """The messages of a group.

    Args:
        comm: a communicator of their own; None: of one process.
    """

    def __init__(self, engine: Engine | None, comm: Any) -> None:
        self.comm = comm
        self._engine = engine
        self._messages: list[Message] = []
        self._calls = 0
        if engine is not None:
            self._kind = engine.mpi.BYTE.Create_contiguous(lib.message_size()).Commit()
            self._operation = make_operation(engine, lib.message_agreement())

    def next(self) -> Message:
        """The message of the next call, which an earlier one may still have."""
        place = self._calls % _COUNT
        if place == len(self._messages):
            self._messages.append(self._made())
        self._calls += 1
        return self._messages[place]

    def _made(self) -> Message:
        message = Message()
        if self._engine is not None:
            given = [message.memory, 1, self._kind]
            message.request = self.comm.Allreduce_init(self._engine.mpi.IN_PLACE, given, self._operation)
            self._engine.requests.append(message.request)
        return message

    def free(self) -> None:
        """Give back what MPI has made."""
        assert self._engine is not None
        for message in self._messages:
            self._engine.requests.remove(message.request)
            message.request.Free()
        for each in (self._kind, self._operation, self.comm):
            each.Free()
