"""Processes that mpiexec has not started become ranks of one MPI program: they ask the first of them what they would
ask mpiexec.

An MPI process learns its rank and the addresses of the others from a server, of which it has a connection in the
variable PMI_FD (the Process Management Interface of MPICH, version 1: lines of `name=value`). Here rank 0 serves it
in a thread, to all that found one another by a store. MPI then works as under mpiexec, by shared memory on one
machine.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

from .errors import DistNetworkError, DistStoreError
from .stores import Store

__all__ = ["join"]

_RANK = struct.Struct("<i")
_KEY = "opweave/pmi"
_VARIABLES = ("PMI_FD", "PMI_RANK", "PMI_SIZE")


def _mapping(hosts: Sequence[str]) -> str:
    """The ranks that are on the same machine: blocks of (number of the machine, machines, ranks)."""
    numbers: dict[str, int] = {}
    blocks: list[list[int]] = []
    for host in hosts:
        node = numbers.setdefault(host, len(numbers))
        if blocks and blocks[-1][0] == node:
            blocks[-1][2] += 1
        else:
            blocks.append([node, 1, 1])
    return "(vector," + ",".join(f"({node},{count},{ranks})" for node, count, ranks in blocks) + ")"


class _Server:
    """Answers to the lines of all ranks."""

    def __init__(self, connections: Sequence[socket.socket], hosts: Sequence[str]) -> None:
        self.size = len(connections)
        self.values = {"PMI_process_mapping": _mapping(hosts)}
        self.name = f"opweave_{secrets.token_hex(8)}"  # MPICH names shared memory by it
        self.waiting: list[Any] = []
        self.lock = threading.Lock()
        for connection in connections:
            threading.Thread(target=self.serve, args=(connection.makefile("rwb", buffering=0),), daemon=True).start()

    def serve(self, stream: Any) -> None:
        try:
            for line in stream:
                words = dict(word.split("=", 1) for word in line.decode().split() if "=" in word)
                answer = self.answer(stream, words)
                if answer:
                    stream.write(f"cmd={answer}\n".encode())
        except OSError:
            pass  # the rank has ended, which others hear from watch.py

    def answer(self, stream: Any, words: dict[str, str]) -> str:
        """The answer to a line; "" if it comes later."""
        command = words.get("cmd")
        if command == "init":
            return "response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        if command == "get_maxes":
            return "maxes rc=0 kvsname_max=256 keylen_max=256 vallen_max=4096"
        if command == "get_appnum":
            return "appnum rc=0 appnum=0"
        if command == "get_my_kvsname":
            return f"my_kvsname rc=0 kvsname={self.name}"
        if command == "get_universe_size":
            return f"universe_size rc=0 size={self.size}"
        if command == "put":
            self.values[words["key"]] = words["value"]
            return "put_result rc=0 msg=success"
        if command == "get":
            value = self.values.get(words["key"])
            return "get_result rc=-1 msg=not_found" if value is None else f"get_result rc=0 value={value}"
        if command == "barrier_in":
            return self.barrier(stream)
        if command == "finalize":
            return "finalize_ack rc=0"
        return f"{command}_result rc=-1 msg=unknown"

    def barrier(self, stream: Any) -> str:
        with self.lock:
            self.waiting.append(stream)
            if len(self.waiting) == self.size:
                for each in self.waiting:
                    each.write(b"cmd=barrier_out rc=0\n")
                self.waiting.clear()
        return ""


def _arrived(store: Store, size: int) -> list[int]:
    return [rank for rank in range(size) if store.check([f"{_KEY}/{rank}"])]


def _too_late(store: Store, rank: int, size: int, seconds: float) -> DistStoreError:
    missing = sorted({*range(size)} - {*_arrived(store, size)})
    return DistStoreError(
        f"init_process_group on rank {rank}: {size - len(missing)} of {size} ranks arrived within {seconds:g} s; "
        f"missing are {', '.join(map(str, missing)) or 'none, but they did not connect'}"
    )


def _gather(store: Store, host: str, size: int, end: float, seconds: float) -> socket.socket:
    """Serve all ranks, of which this is the first; its own connection."""
    with socket.create_server(("", 0), backlog=size) as listener:
        store.set(_KEY, f"{host}:{listener.getsockname()[1]}")
        mine, own = socket.socketpair()
        connections = {0: own}
        while len(connections) < size:
            listener.settimeout(max(0.001, end - time.monotonic()))
            try:
                connection, _ = listener.accept()
                connection.settimeout(max(0.001, end - time.monotonic()))
                connections[_RANK.unpack(connection.recv(_RANK.size, socket.MSG_WAITALL))[0]] = connection
            except TimeoutError:
                raise _too_late(store, 0, size, seconds) from None
    hosts = [store.get(f"{_KEY}/{rank}").decode() for rank in range(size)]
    ordered = [connections[rank] for rank in range(size)]
    for connection in ordered[1:]:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(b"!")
    _Server(ordered, hosts)
    return mine


def _connect(store: Store, rank: int, size: int, end: float, seconds: float) -> socket.socket:
    """The connection of a rank to the first one, when all have arrived."""
    if not store._wait([_KEY.encode()], max(0.0, end - time.monotonic())):
        raise _too_late(store, rank, size, seconds)
    host, _, port = store.get(_KEY).decode().rpartition(":")
    try:
        connection = socket.create_connection((host, int(port)), max(0.001, end - time.monotonic()))
        connection.sendall(_RANK.pack(rank))
        if not connection.recv(1):
            raise ConnectionError("rank 0 has ended")
    except TimeoutError:
        raise _too_late(store, rank, size, seconds) from None
    except OSError as error:
        raise DistNetworkError(
            f"init_process_group on rank {rank}: rank 0 does not answer at {host}:{port} ({error}). "
            "A file or a store that an earlier run has left must be removed"
        ) from None
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def join(store: Store, rank: int, size: int, seconds: float) -> None:
    """Set the variables with which MPI starts as this rank, when all ranks have arrived.

    Raises:
        DistStoreError: a rank did not arrive within so many seconds; the message names those that are missing.
        DistNetworkError: the first rank cannot be reached.
    """
    end = time.monotonic() + seconds
    store.set(f"{_KEY}/{rank}", socket.gethostname())
    host = getattr(store, "host", None) or "127.0.0.1"
    connection = _gather(store, host, size, end, seconds) if not rank else _connect(store, rank, size, end, seconds)
    descriptor = connection.detach()  # MPI has it from now on
    os.environ.update(zip(_VARIABLES, map(str, (descriptor, rank, size)), strict=True))


def forget() -> None:
    """Remove the variables of `join`, which programs started from here must not see."""
    for name in _VARIABLES:
        os.environ.pop(name, None)
