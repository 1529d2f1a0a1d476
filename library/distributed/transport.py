"""Tensors as MPI moves and combines them: their memory without a copy, the types of elements, the reductions.

All methods take contiguous tensors and return requests, which are tested until they are done (watch.py).
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from opweave._C import lib

from .._base.dtypes import EXPORTS
from .reduce_op import ReduceOp, combination

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .engine import Engine

__all__ = ["Transport", "make_operation"]

_TYPES = {
    "bool": ("UINT8_T", 1),
    "uint8": ("UINT8_T", 1),
    "int8": ("INT8_T", 1),
    "uint16": ("UINT16_T", 1),
    "int16": ("INT16_T", 1),
    "uint32": ("UINT32_T", 1),
    "int32": ("INT32_T", 1),
    "uint64": ("UINT64_T", 1),
    "int64": ("INT64_T", 1),
    "float16": ("UINT16_T", 1),
    "bfloat16": ("UINT16_T", 1),
    "float32": ("FLOAT", 1),
    "float64": ("DOUBLE", 1),
    "complex32": ("UINT16_T", 2),
    "complex64": ("FLOAT", 2),
    "complex128": ("DOUBLE", 2),
}
"""The type of MPI for the elements of a dtype, and how many of them one element is. Others are bytes."""

_NAMES = {
    ReduceOp.SUM: "SUM",
    ReduceOp.AVG: "SUM",
    ReduceOp.PREMUL_SUM: "SUM",
    ReduceOp.PRODUCT: "PROD",
    ReduceOp.MIN: "MIN",
    ReduceOp.MAX: "MAX",
    ReduceOp.BAND: "BAND",
    ReduceOp.BOR: "BOR",
    ReduceOp.BXOR: "BXOR",
}
_LOGICAL = {"SUM": "BOR", "MAX": "BOR", "PROD": "BAND", "MIN": "BAND"}
"""The operations on bits that those on truth values are."""
_HALVES = {
    name: EXPORTS[of].code for name, of in (("float16", "float16"), ("bfloat16", "bfloat16"), ("complex32", "float16"))
}
"""The dtypes that MPI cannot add up, and the number of the dtype that the core combines."""


def make_operation(engine: Engine, function: int) -> Any:
    """The operation of MPI that is a function of the core, given by its address."""
    is_open_mpi = "Open MPI" in engine.mpi.Get_library_version()
    handle: Any = (ctypes.c_void_p if is_open_mpi else ctypes.c_int)()
    engine.library.MPI_Op_create(ctypes.c_void_p(function), 1, ctypes.byref(handle))
    return engine.mpi.Op.fromhandle(handle.value if is_open_mpi else handle.value & 0xFFFFFFFF)


class Transport:
    """The moves between the ranks of one communicator."""

    operations: dict[tuple[int, int], Any] = {}  # noqa: RUF012 (those of the process, for all its groups)

    def __init__(self, engine: Engine, comm: Any) -> None:
        self.engine = engine
        self.comm = comm
        self.place: Any = engine.mpi.IN_PLACE
        self.size: int = comm.size
        self.rank: int = comm.rank
        self._types: dict[Any, tuple[Any, int]] = {}
        self._memory: Any = getattr(engine.mpi, "memory", None) or engine.mpi.buffer

    def _type(self, tensor: Tensor) -> tuple[Any, int]:
        dtype = tensor.dtype
        found = self._types.get(dtype)
        if found is None:
            name, count = _TYPES.get(dtype._name, ("UINT8_T", dtype.itemsize))
            found = self._types[dtype] = getattr(self.engine.mpi, name), count
        return found

    def _buffer(self, tensor: Tensor, parts: int = 1) -> list[Any]:
        """The memory of a tensor, the elements in one of so many parts, and their type."""
        kind, each = self._type(tensor)
        count = tensor.numel()
        memory = self._memory.fromaddress(tensor.data_ptr(), count * tensor.element_size())
        return [memory, count * each // parts, kind]

    def _operation(self, tensor: Tensor, kind: Any) -> Any:
        dtype, name = tensor.dtype._name, _NAMES[kind]
        if dtype == "bool":
            name = _LOGICAL.get(name, name)
        if dtype not in _HALVES:
            return getattr(self.engine.mpi, name)
        key = combination(kind), _HALVES[dtype]
        if key not in self.operations:
            self.operations[key] = make_operation(self.engine, lib.message_function(*key))
        return self.operations[key]

    def all_reduce(self, tensor: Tensor, kind: Any) -> list[Any]:
        """Combine the tensors of all ranks, in place."""
        return [self.comm.Iallreduce(self.place, self._buffer(tensor), self._operation(tensor, kind))]

    def reduce(self, tensor: Tensor, root: int, kind: Any) -> list[Any]:
        """Combine the tensors of all ranks in that of one."""
        buffer = self._buffer(tensor)
        sent, received = (self.place, buffer) if self.rank == root else (buffer, None)
        return [self.comm.Ireduce(sent, received, self._operation(tensor, kind), root)]

    def broadcast(self, tensor: Tensor, root: int) -> list[Any]:
        """Copy the tensor of one rank to those of all."""
        return [self.comm.Ibcast(self._buffer(tensor), root)]

    def all_gather(self, output: Tensor, tensor: Tensor) -> list[Any]:
        """Copy the tensors of all ranks, one after the other, to all."""
        return [self.comm.Iallgather(self._buffer(tensor), self._buffer(output, self.size))]

    def gather(self, output: Tensor | None, tensor: Tensor, root: int) -> list[Any]:
        """Copy the tensors of all ranks, one after the other, to one."""
        received = None if output is None else self._buffer(output, self.size)
        return [self.comm.Igather(self._buffer(tensor), received, root)]

    def scatter(self, tensor: Tensor, given: Tensor | None, root: int) -> list[Any]:
        """Copy the parts that one rank gives to all."""
        sent = None if given is None else self._buffer(given, self.size)
        return [self.comm.Iscatter(sent, self._buffer(tensor), root)]

    def reduce_scatter(self, output: Tensor, given: Tensor, kind: Any) -> list[Any]:
        """Combine the tensors of all ranks, of which each gets a part."""
        operation = self._operation(given, kind)
        return [self.comm.Ireduce_scatter_block(self._buffer(given, self.size), self._buffer(output), operation)]

    def all_to_all(self, output: Tensor, given: Tensor, counts: list[int], given_counts: list[int]) -> list[Any]:
        """Copy a part of each rank's tensor to each rank; the counts are those of elements."""
        kind, each = self._type(given)

        def parts(tensor: Tensor, numbers: list[int]) -> list[Any]:
            scaled = [number * each for number in numbers]
            return [self._buffer(tensor)[0], (scaled, [sum(scaled[:k]) for k in range(len(scaled))]), kind]

        return [self.comm.Ialltoallv(parts(given, given_counts), parts(output, counts))]

    def send(self, tensor: Tensor, peer: int, tag: int) -> list[Any]:
        """Send a tensor to a rank."""
        return [self.comm.Isend(self._buffer(tensor), peer, tag)]

    def receive(self, tensor: Tensor, peer: int, tag: int) -> list[Any]:
        """Receive a tensor of a rank; a negative number: of any."""
        return [self.comm.Irecv(self._buffer(tensor), self.engine.mpi.ANY_SOURCE if peer < 0 else peer, tag)]
