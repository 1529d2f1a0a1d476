"""Python objects that are pickled and sent as tensors of bytes."""

from __future__ import annotations

import pickle
from typing import Any

from .. import cat, empty, frombuffer, int64, tensor, uint8, zeros
from .checks import check_not_self, rank_in, warn_outside
from .collectives import all_gather, all_reduce, broadcast, gather, scatter
from .point_to_point import recv, send
from .process_group import ProcessGroup, given_group, is_outside
from .reduce_op import ReduceOp

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


def _pickled(value: Any) -> Any:
    """The bytes of a pickled object."""
    return frombuffer(bytearray(pickle.dumps(value)), dtype=uint8)


def _object(data: Any) -> Any:
    return pickle.loads(data.numpy().tobytes())


def _padded(data: Any, size: int) -> Any:
    """Bytes with zeros after them, which pickle does not read."""
    return cat([data, zeros(size - data.numel(), dtype=uint8)])


def _largest(size: int, group: ProcessGroup) -> int:
    """The largest of the sizes of all ranks."""
    largest = tensor([size])
    all_reduce(largest, ReduceOp.MAX, group)
    return int(largest)


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Give all ranks the objects of all, in `object_list`, which has as many places.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if is_outside(group):
        warn_outside("all_gather_object")
        return None
    group = given_group(group)
    data = _pickled(obj)
    size = _largest(data.numel(), group)
    parts = list(empty(group.size(), size, dtype=uint8).unbind())
    all_gather(parts, _padded(data, size), group)
    for index, part in enumerate(parts):
        object_list[index] = _object(part)
    return None


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Give rank `dst` (0 by default) the objects of all, in its `object_gather_list`, which has as many places.

    Raises:
        ValueError: the list is missing on that rank, or given on another one.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if is_outside(group):
        warn_outside("gather_object")
        return None
    group = given_group(group)
    root = rank_in(group, 0 if dst is None and group_dst is None else dst, group_dst)
    is_root = group.rank() == root
    if is_root != bool(object_gather_list):
        where = "be specified on destination rank" if is_root else "NOT be specified on non-destination ranks"
        raise ValueError(f"Argument ``gather_list`` must {where}.")
    data = _pickled(obj)
    size = _largest(data.numel(), group)
    parts = list(empty(group.size(), size, dtype=uint8).unbind()) if is_root else None
    gather(_padded(data, size), parts, group=group, group_dst=root)
    for index, part in enumerate(parts or ()):
        assert object_gather_list is not None
        object_gather_list[index] = _object(part)
    return None


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give all ranks the objects in the list of rank `src` (0 by default); all lists have as many places.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if is_outside(group):
        warn_outside("broadcast_object_list")
        return None
    group = given_group(group)
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    is_root = group.rank() == root
    given = [_pickled(each) for each in object_list] if is_root else []
    sizes = tensor([each.numel() for each in given]) if is_root else empty(len(object_list), dtype=int64)
    broadcast(sizes, group=group, group_src=root)
    data = cat(given) if is_root else empty(int(sizes.sum()), dtype=uint8)
    broadcast(data, group=group, group_src=root)
    if not is_root:
        object_list[:] = map(_object, data.split(sizes.tolist()))
    return None


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Give each rank, in the first place of its output list, one of the objects in the input list of rank `src`.

    Raises:
        ValueError: the output list is none, or the input list is missing on that rank.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if is_outside(group):
        warn_outside("scatter_object_list")
        return None
    group = given_group(group)
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    is_root = group.rank() == root
    if is_root and scatter_object_input_list is None:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    given = [_pickled(each) for each in scatter_object_input_list or ()] if is_root else []
    size = _largest(max((each.numel() for each in given), default=0), group)
    data = empty(size, dtype=uint8)
    scatter(data, [_padded(each, size) for each in given], group=group, group_src=root)
    scatter_object_output_list[0] = _object(data)
    return None


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send the objects of a list to rank `dst`, which receives them by recv_object_list.

    Raises:
        ValueError: it is this rank.
        DistBackendError: it has ended, or does not receive within the timeout.
    """
    if is_outside(group):
        warn_outside("send_object_list")
        return None
    group = given_group(group)
    peer = rank_in(group, dst, group_dst)
    check_not_self(group, peer, "destination")
    given = [_pickled(each) for each in object_list]
    send(tensor([each.numel() for each in given]), group=group, group_dst=peer)
    send(cat(given), group=group, group_dst=peer)
    return None


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive as many objects as the list has places of rank `src`, or of any, and return whose they are.

    Raises:
        DistBackendError: the rank has ended, sends another number of objects, or nothing within the timeout.
    """
    if is_outside(group):
        warn_outside("recv_object_list")
        return -1
    group = given_group(group)
    sizes = empty(len(object_list), dtype=int64)
    source = recv(sizes, src, group, group_src=group_src)
    data = empty(int(sizes.sum()), dtype=uint8)
    recv(data, source, group)
    object_list[:] = map(_object, data.split(sizes.tolist()))
    return source
