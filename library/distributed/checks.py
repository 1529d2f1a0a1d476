"""Checks of the arguments of functions of groups, with torch's exceptions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from opweave._C import lib

from .._base.keys import KEY_BITS
from .._base.tensor_class import Tensor
from .._handle import ELSEWHERE
from .process_group import GroupMember, ProcessGroup, default_group
from .reduce_op import ReduceOp

__all__ = [
    "check_dtypes",
    "check_equal",
    "check_kind",
    "check_not_self",
    "check_tensor",
    "check_tensors",
    "check_timeout",
    "get_global_rank",
    "get_group_rank",
    "rank_in",
    "warn_outside",
]

_REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_ELSEWHERE = (ELSEWHERE | KEY_BITS["meta"]) & ~KEY_BITS["conj"]  # not dense, or not in memory of this process
_ALLOWED: set[tuple[Any, Any]] = set()  # pairs that check_kind has found no fault with
_OF_NUMBERS = (ReduceOp.MIN, ReduceOp.MAX, ReduceOp.PRODUCT)
_OF_BITS = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def check_tensor(value: Any, name: str) -> None:
    """Raise TypeError unless an argument is a tensor, and ValueError unless its memory can be sent."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"""Invalid function argument. Expected parameter `{name}` of type torch.Tensor
             but got {type(value)} instead."""
        )
    if lib.keys(value._h) & _ELSEWHERE:
        raise ValueError(f"{name}: tensors must be dense and on the CPU, but got {value.layout} on {value.device}")


def check_tensors(value: Any, name: str) -> None:
    """Raise TypeError unless an argument is a list of tensors."""
    if not isinstance(value, list) or not all(isinstance(each, Tensor) for each in value):
        raise TypeError(
            f"""Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]
             but got {type(value)} instead."""
        )
    for each in value:
        check_tensor(each, name)


def check_dtypes(*tensors: Any) -> None:
    """Raise ValueError unless tensors, and those of lists, have one dtype; that of complex parts is the same."""
    found = None
    for each in tensors:
        for tensor in each if isinstance(each, list) else (each,):
            name = _REAL.get(tensor.dtype._name, tensor.dtype._name)
            if found not in (None, name):
                raise ValueError(f"Invalid usage of tensors with different dtypes: found {found} and {tensor.dtype}")
            found = name


def check_equal(call: str, tensors: Iterable[Any], tensor: Any) -> None:
    """Raise ValueError unless tensors have the shape of another one."""
    for index, each in enumerate(tensors):
        if each.numel() != tensor.numel():
            raise ValueError(
                f"{call}: invalid tensor size at index {index} "
                f"(expected {tuple(tensor.shape)}, got {tuple(each.shape)})"
            )


def check_kind(call: str, kind: Any, tensor: Any) -> None:
    """Raise an error unless elements of this dtype can be combined."""
    dtype = tensor.dtype
    if (kind, dtype) in _ALLOWED:
        return
    if dtype.is_complex and kind in _OF_NUMBERS + _OF_BITS:
        raise ValueError(f"{call} does not support {kind} on complex tensors")
    if kind in _OF_BITS and dtype.is_floating_point:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    if dtype._name.startswith("float8"):
        raise TypeError(f"{call}: {dtype} is moved, not combined. Convert to bfloat16")
    _ALLOWED.add((kind, dtype))


def check_timeout(timeout: Any) -> None:
    """Raise TypeError unless it is a timedelta."""
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def check_not_self(group: ProcessGroup, rank: int, words: str) -> None:
    """Raise ValueError if a rank of the group is this one."""
    if group.rank() == rank:
        raise ValueError(
            f"Invalid {words} rank: {words} rank should not be the same as the rank of the current process."
        )


def warn_outside(call: str) -> None:
    """Warn of a call for a group that this process is no member of."""
    rank = -1 if GroupMember.WORLD is None else GroupMember.WORLD.rank()
    warnings.warn(f"Running {call} on global rank {rank} which does not belong to the given group.", stacklevel=3)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the number that a process has in a group, by the one it has among all.

    Raises:
        ValueError: it is not in the group.
    """
    if not isinstance(group, ProcessGroup):
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    if global_rank not in group.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the number that a process has among all, by the one it has in a group.

    Raises:
        ValueError: the group has no such rank.
    """
    if not isinstance(group, ProcessGroup):
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def rank_in(group: ProcessGroup | None, global_rank: int | None, group_rank: int | None) -> int:
    """The rank within a group that is given as such, or as one among all processes.

    Raises:
        ValueError: both are given, or none, or the group has no such rank.
    """
    group = default_group() if group is None else group
    if group_rank is not None and global_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if group_rank is not None:
        get_global_rank(group, group_rank)
        return group_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, global_rank)
