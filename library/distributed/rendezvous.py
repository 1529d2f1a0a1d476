"""The rendezvous of processes: the store, the rank and the number of ranks that an address such as `env://` gives."""

from __future__ import annotations

import os
from datetime import timedelta
from urllib.parse import parse_qsl, urlparse

from .file_store import FileStore
from .stores import Store
from .tcp_store import TCPStore

__all__ = ["rendezvous"]


def _error(scheme: str, text: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {text}")


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise _error("env", f"environment variable {name} expected, but not set")
    return value


def _number(scheme: str, given: int, query: dict[str, str], key: str, words: str) -> int:
    if given >= 0:
        if key in query:
            raise AssertionError("The url has node-specific arguments(rank, world_size) already.")
        return given
    if key in query:
        return int(query[key])
    if scheme == "env":
        return int(_variable(key.upper()))
    raise _error(scheme, f"{words} parameter missing")


def _tcp_store(host: str, port: int, rank: int, timeout: timedelta) -> TCPStore:
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    return TCPStore(host, port, is_master=rank == 0, timeout=timeout)


def rendezvous(url: str, rank: int, world_size: int, timeout: timedelta) -> tuple[Store, int, int]:
    """The store of an address, this process's rank and the number of ranks.

    `env://` reads the variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; `tcp://host:port` and `file:///path`
    take the numbers that are given, or those of their query (`?rank=0&world_size=2`).

    Raises:
        ValueError: a part is missing.
        RuntimeError: the scheme is another one.
        DistNetworkError: the port is in use, or rank 0 does not answer.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    parts = urlparse(url)
    scheme = parts.scheme
    if scheme not in ("env", "tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {scheme}://")
    if scheme == "file" and not parts.path:
        raise _error(scheme, "path missing")
    if scheme == "tcp" and parts.port is None:
        raise _error(scheme, "port number missing")
    query = dict(parse_qsl(parts.query))
    rank = _number(scheme, rank, query, "rank", "rank")
    world_size = _number(scheme, world_size, query, "world_size", "world size")
    if scheme == "file":
        return FileStore(parts.path, world_size), rank, world_size
    if scheme == "tcp":
        return _tcp_store(parts.hostname or "localhost", parts.port or 0, rank, timeout), rank, world_size
    host, port = _variable("MASTER_ADDR"), int(_variable("MASTER_PORT"))
    return _tcp_store(host, port, rank, timeout), rank, world_size
