"""`TCPStore`: a store that one process serves to all others."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .errors import DistNetworkError, DistStoreError
from .stores import DEFAULT, HashStore, Store

__all__ = ["TCPStore"]

_LENGTH = struct.Struct("<I")


def _send(connection: socket.socket, fields: Sequence[bytes]) -> None:
    """Send a message of several fields: their number, and each with its length before it."""
    parts = [_LENGTH.pack(len(fields))]
    for field in fields:
        parts += _LENGTH.pack(len(field)), field
    connection.sendall(b"".join(parts))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the connection has ended")
        data += part
    return data


def _receive(connection: socket.socket) -> list[bytes]:
    def number() -> int:
        return int(_LENGTH.unpack(_exactly(connection, _LENGTH.size))[0])

    return [_exactly(connection, number()) for _ in range(number())]


class _Server:
    """The values, and a thread for each process that asks for them."""

    def __init__(self, port: int, descriptor: int | None) -> None:
        self.values = HashStore()
        self.values.set("init/", "")
        try:
            self.listener = (
                socket.create_server(("", port), backlog=1024)
                if descriptor is None
                else socket.socket(fileno=descriptor)
            )
        except OSError as error:
            name = errno.errorcode.get(error.errno or 0, "")
            raise DistNetworkError(
                "The server socket has failed to listen on any local network address. "
                f"port: {port}, code: {error.errno}, name: {name}, message: {os.strerror(error.errno or 0)}"
            ) from None
        self.connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while True:
                operation, *args = _receive(connection)
                if operation == b"wait":
                    result = b"1" if self.values._wait(args[1:], float(args[0])) else b""
                else:
                    result = self.values._apply(operation, *args)
                _send(connection, [result])
        except (OSError, KeyError):
            connection.close()

    def close(self) -> None:
        for each in [self.listener, *self.connections]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class TCPStore(Store):
    """A store that one process (`is_master`) serves on a port, for all that connect to it.

    Args:
        host_name (str): the machine of the server.
        port (int): its port; 0 with `is_master`: any that is free, which is `port` then.
        world_size (int): the number of processes, with `wait_for_workers`.
        is_master (bool): whether this process is the server.
        timeout (timedelta): how long connecting, `get` and `wait` may take.
        wait_for_workers (bool): wait until `world_size` processes have connected.
        multi_tenant, use_libuv: accepted, and without effect.
        master_listen_fd (int): a socket that listens already.

    Raises:
        DistNetworkError: the port is in use, or no server has answered within the timeout.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = DEFAULT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        self._timeout = timeout
        self._server = _Server(port, master_listen_fd) if is_master else None
        self.host = host_name
        self.port = self._server.listener.getsockname()[1] if self._server else port
        self._lock = threading.Lock()
        self._connection = self._connect()
        if world_size and wait_for_workers:
            if self.add("workers/", 1) == world_size:
                self.set("complete/", "")
            if not self._wait([b"complete/"], timeout.total_seconds()):
                there = self.add("workers/", 0)
                raise DistStoreError(
                    f"Timed out after {timeout} waiting for clients. {there}/{world_size} clients joined."
                )

    def _connect(self) -> socket.socket:
        end = time.monotonic() + self._timeout.total_seconds()
        while True:
            try:
                connection = socket.create_connection((self.host, self.port), self._timeout.total_seconds() or None)
                if connection.getsockname() != connection.getpeername():
                    break
                connection.close()  # the system chose this very port for the caller, and connected it to itself
            except OSError as error:
                if time.monotonic() > end:
                    raise DistNetworkError(
                        f"The client socket has timed out after {self._timeout.total_seconds() * 1000:.0f}ms while "
                        f"trying to connect to ({self.host}, {self.port}): {error}"
                    ) from None
                time.sleep(0.02)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _ask(self, connection: socket.socket, *fields: bytes) -> bytes:
        try:
            _send(connection, fields)
            return _receive(connection)[0]
        except OSError as error:
            raise DistNetworkError(f"the store at {self.host}:{self.port} has ended: {error}") from None

    def _apply(self, operation: bytes, *args: bytes) -> bytes:
        with self._lock:
            return self._ask(self._connection, operation, *args)

    def _wait(self, keys: Sequence[bytes], seconds: float) -> bool:
        if self._apply(b"check", *keys):
            return True
        with self._connect() as connection:  # of its own: other threads may set what is waited for
            return bool(self._ask(connection, b"wait", b"%f" % seconds, *keys))

    def close(self) -> None:
        """End the connection, and the server if it is this process."""
        self._connection.close()
        if self._server:
            self._server.close()

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"TCPStore({self.host!r}, {self.port})"

    def clone(self) -> Any:
        """Return a store with a connection of its own to the same server."""
        return TCPStore(self.host, self.port, is_master=False, timeout=self._timeout)
