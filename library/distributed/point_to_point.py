"""Tensors from one rank to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checks import check_not_self, check_tensor, get_global_rank, rank_in, warn_outside
from .collectives import _memory, _put
from .errors import DistBackendError
from .process_group import ProcessGroup, given_group, is_outside
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


class _Received(Work):
    """A tensor that is to arrive, of which the sender's rank and the number of elements are known then."""

    _source = -1

    def _advance(self) -> bool:
        return self._is_done or super()._advance()

    def _source_rank(self) -> int:
        return self._source

    @classmethod
    def of(cls, group: ProcessGroup, tensor: Any, peer: int, tag: int, text: str, members: list[int]) -> Work:
        """The work that receives a tensor of a rank; a negative number: of any."""
        memory = _memory(tensor)
        requests = group.transport.receive(memory, peer, tag)
        work = cls(group, text, members, requests, lambda: _put(tensor, memory), [tensor])
        status = _status(group)

        class Request:
            """The request, which says what has arrived."""

            def Test(self) -> bool:  # noqa: N802 (mpi4py's name)
                if not requests[0].Test(status):
                    return False
                work._source = status.Get_source()
                arrived = status.Get_count(group.engine.mpi.BYTE) // tensor.element_size()  # type: ignore[union-attr]
                if arrived != tensor.numel():
                    raise DistBackendError(
                        f"{text} on rank {group.global_rank}: {arrived} elements arrived, not {tensor.numel()}"
                    )
                return True

        work._requests = [Request()]
        return work


def _status(group: ProcessGroup) -> Any:
    assert group.engine is not None
    return group.engine.mpi.Status()


def _text(name: str, tensor: Any, words: str) -> str:
    return f"{name}({tensor.dtype._name}{list(tensor.shape)}{words})"


def isend(
    tensor: Any, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Begin to send a tensor to rank `dst`, which must not be changed before the Work that is returned is done."""
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("isend")
        return None
    group = given_group(group)
    peer = rank_in(group, dst, group_dst)
    memory = _memory(tensor)
    to = group.ranks[peer]
    requests = group.transport.send(memory, peer, tag)
    work = Work(group, _text("send", tensor, f", to rank {to}"), [to], requests, None, [tensor])
    work._kept = memory  # type: ignore[attr-defined]  # until it is sent
    return work


def irecv(
    tensor: Any, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Begin to receive a tensor of rank `src`, or of any."""
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("irecv")
        return None
    group = given_group(group)
    peer = -1 if src is None and group_src is None else rank_in(group, src, group_src)
    others = [rank for rank in group.ranks if rank != group.global_rank]
    sources = others if peer < 0 else [group.ranks[peer]]
    words = ", from any rank" if peer < 0 else f", from rank {sources[0]}"
    return _Received.of(group, tensor, peer, tag, _text("recv", tensor, words), sources)


def send(
    tensor: Any, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_dst: int | None = None
) -> None:
    """Send a tensor to rank `dst`.

    Raises:
        ValueError: it is this rank.
        DistBackendError: it has ended, or does not receive within the timeout.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("send")
        return None
    group = given_group(group)
    check_not_self(group, rank_in(group, dst, group_dst), "destination")
    work = isend(tensor, dst, group, tag, group_dst)
    assert work is not None
    work.wait()
    return None


def recv(
    tensor: Any, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_src: int | None = None
) -> int:
    """Receive a tensor of rank `src`, or of any, and return whose it is; -1 outside of the group.

    Raises:
        DistBackendError: the rank has ended, sends another number of elements, or nothing within the timeout.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("recv")
        return -1
    group = given_group(group)
    if src is not None or group_src is not None:
        check_not_self(group, rank_in(group, src, group_src), "source")
    work = irecv(tensor, src, group, tag, group_src)
    assert work is not None
    work.wait()
    return group.ranks[work._source_rank()]


class P2POp:
    """One of the transfers that batch_isend_irecv begins.

    Args:
        op: isend or irecv.
        tensor (Tensor): what is sent, or receives.
        peer (int): the other rank, among all processes; `group_peer` within the group.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.group = given_group(group)
        self.group_peer = rank_in(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)
        self.tag = tag

    def __repr__(self) -> str:
        own, other = self.group.rank(), self.group_peer
        source, destination = (own, other) if self.op is isend else (other, own)
        return (
            f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={destination},  "
            f"{self.tensor.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several transfers, and return their works.

    Raises:
        ValueError: the list has something else, or transfers of several groups.
    """
    if not isinstance(p2p_op_list, list) or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if any(each.group is not p2p_op_list[0].group for each in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    works = (each.op(each.tensor, group=each.group, tag=each.tag, **_peer(each)) for each in p2p_op_list)
    return [work for work in works if work is not None]


def _peer(operation: P2POp) -> dict[str, int]:
    return {"group_dst" if operation.op is isend else "group_src": operation.group_peer}
