"""Whether the other ranks are still there, and the wait for a call of theirs that ends whatever happens to them.

Every rank has a TCP connection to rank 0, whose system closes it when the process ends, however it ends: rank 0 hears
of that at once and tells the others. A rank in a long computation is not gone, so nothing has to be sent in between.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from .errors import DistBackendError

__all__ = ["Watch"]

_NEWS = struct.Struct("<ii")  # a rank, and one of these
_ENDED, _LEFT, _WAITS, _GOES_ON = range(4)
_RANK = struct.Struct("<i")
_GRACE = 0.25
"""Seconds for which a call goes on without a rank that is gone: what the rank sent before may still be on its way."""


class Watch:
    """The connections of this rank to the others, and what is known of them.

    Args:
        rank, size (int): of all processes.
        share (Callable): gives all ranks the bytes that rank 0 gives it.
        seconds (float): within which all must connect.
    """

    def __init__(self, rank: int, size: int, share: Callable[[bytes], bytes], seconds: float) -> None:
        self.rank = rank
        self.gone: dict[int, int] = {}
        self.waiting: set[int] = set()  # ranks that have been in a call for half of its timeout
        self._sends = threading.Lock()
        end = time.monotonic() + seconds
        self.peers = self._accept(size, share, end) if not rank else self._connect(share, end)
        os.register_at_fork(after_in_child=self._forget)
        threading.Thread(target=self._listen, args=(dict(self.peers),), daemon=True, name="opweave-watch").start()

    def _accept(self, size: int, share: Callable[[bytes], bytes], end: float) -> dict[socket.socket, int]:
        peers: dict[socket.socket, int] = {}
        with socket.create_server(("", 0), backlog=size) as listener:
            share(f"{socket.gethostname()}:{listener.getsockname()[1]}".encode())
            while len(peers) < size - 1:
                listener.settimeout(max(0.001, end - time.monotonic()))
                connection, _ = listener.accept()
                peers[connection] = _RANK.unpack(connection.recv(_RANK.size, socket.MSG_WAITALL))[0]
        return peers

    def _connect(self, share: Callable[[bytes], bytes], end: float) -> dict[socket.socket, int]:
        host, _, port = share(b"").decode().rpartition(":")
        if host == socket.gethostname():
            host = "127.0.0.1"
        connection = socket.create_connection((host, int(port)), max(0.001, end - time.monotonic()))
        connection.settimeout(None)
        connection.sendall(_RANK.pack(self.rank))
        return {connection: 0}

    def _forget(self) -> None:
        """Close the connections in a forked process, which must not hold them when this one has ended."""
        for connection in self.peers:
            connection.close()
        self.peers = {}

    def _listen(self, peers: dict[socket.socket, int]) -> None:
        selector = selectors.DefaultSelector()
        for connection in peers:
            selector.register(connection, selectors.EVENT_READ, connection)
        while peers:
            for connection in [key.data for key, _ in selector.select()]:
                try:
                    data = connection.recv(_NEWS.size, socket.MSG_WAITALL)
                except OSError:
                    data = b""
                if len(data) == _NEWS.size:
                    rank, news = _NEWS.unpack(data)
                else:
                    rank, news = peers.pop(connection), _ENDED
                    selector.unregister(connection)
                if self._note(rank, news) and not self.rank:
                    self._tell(peers, rank, news)

    def _note(self, rank: int, news: int) -> bool:
        """Remember what is known of another rank; whether it is new. Rank 0 tells all ranks, also that one."""
        if rank in self.gone or rank == self.rank:
            return False
        if news in (_ENDED, _LEFT):
            self.gone[rank] = news
        elif news == _WAITS:
            self.waiting.add(rank)
        else:
            self.waiting.discard(rank)
        return True

    def _tell(self, peers: Collection[socket.socket], rank: int, news: int) -> None:
        with self._sends:
            for connection in peers:
                with contextlib.suppress(OSError):
                    connection.sendall(_NEWS.pack(rank, news))

    def leave(self) -> None:
        """Tell the others that this rank is leaving, so that none of them waits for it."""
        self._tell(self.peers, self.rank, _LEFT)

    def all_have_left(self, size: int, seconds: float) -> bool:
        """Wait until all others are gone, at most so many seconds; whether all of them have left by themselves."""
        end = time.monotonic() + seconds
        while len(self.gone) < size - 1 and time.monotonic() < end:
            if _ENDED in self.gone.values():
                return False
            time.sleep(0.002)
        return len(self.gone) == size - 1 and _ENDED not in self.gone.values()

    def wait(
        self, is_done: Callable[[], bool], members: Collection[int], describe: Callable[[], Any], seconds: float
    ) -> None:
        """Wait until something is done.

        Raises:
            DistBackendError: a rank among the members is gone, or it takes longer than so many seconds.
        """
        spins = 0
        began = lost = 0.0
        has_told = False
        while not is_done():
            spins += 1
            if spins & 127:
                continue
            now = time.monotonic()
            began = began or now
            passed = now - began
            if self.gone and (missing := [rank for rank in tuple(self.gone) if rank in members]):
                lost = lost or now
                if now - lost > _GRACE:
                    how = "has left, or raised an exception," if self.gone[missing[0]] == _LEFT else "has ended"
                    raise DistBackendError(f"rank {missing[0]} {how} during {describe()}")
            if passed > seconds:
                raise DistBackendError(f"{describe()} took longer than {seconds:g} s: {self._late(members)}")
            if passed > seconds / 2 and not has_told:
                has_told = True
                self._tell(self.peers, self.rank, _WAITS)
            if passed > 0.001:
                time.sleep(0 if passed < 0.05 else 0.0002)
        if has_told:
            self._tell(self.peers, self.rank, _GOES_ON)

    def _late(self, members: Collection[int]) -> str:
        """The ranks that are not waiting."""
        late = sorted({*members} - self.waiting - {self.rank})
        if not late:
            return "all ranks wait, for different things"
        return f"rank{'s' if len(late) > 1 else ''} {', '.join(map(str, late))} did not arrive"
