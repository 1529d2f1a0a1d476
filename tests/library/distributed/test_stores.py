"""Stores: what they answer is what torch's answer."""

from __future__ import annotations

import socket
import threading
from datetime import timedelta

import opweave.distributed as dist
import pytest

from .ranks import free_port


@pytest.fixture(params=["hash", "file", "tcp", "prefix"])
def store(request, tmp_path):
    if request.param == "hash":
        return dist.HashStore()
    if request.param == "file":
        return dist.FileStore(str(tmp_path / "store"))
    made = dist.TCPStore("127.0.0.1", 0, is_master=True)
    return dist.PrefixStore("before", made) if request.param == "prefix" else made


def test_values(store):
    assert store.add("a", 1) == 1
    assert store.add("a", 4) == 5
    assert store.get("a") == b"5"
    assert store.compare_set("b", "", "x") == b"x"
    assert store.compare_set("b", "x", "y") == b"y"
    assert store.compare_set("b", "x", "z") == b"y"
    assert store.compare_set("c", "q", "y") == b"q"
    assert not store.check(["a", "c"])
    assert store.check(["a", "b"])
    store.append("b", b"\0\n=")
    assert store.get("b") == b"y\0\n="
    assert store.delete_key("a")
    assert not store.delete_key("a")
    store.multi_set(["k", "l"], ["", "v"])
    assert store.multi_get(["k", "l"]) == [b"", b"v"]


def test_waiting(store):
    store.set_timeout(timedelta(seconds=0.05))
    with pytest.raises(dist.DistStoreError, match="wait timeout after 50ms, keys: no"):
        store.get("no")
    threading.Timer(0.05, store.set, ("late", "1")).start()
    store.wait(["late"], timedelta(seconds=20))


def test_a_file_is_shared_and_removed(tmp_path):
    path = tmp_path / "store"
    first, second = (dist.FileStore(str(path), 2) for _ in range(2))
    first.set("a", "1")
    assert second.add("a", 1) == 2
    assert first.get("a") == b"2"
    first.close()
    assert path.exists()
    second.close()
    assert not path.exists()


def test_a_server_has_clients():
    port = free_port()
    server = dist.TCPStore("127.0.0.1", port, is_master=True)
    client = dist.TCPStore("127.0.0.1", port)
    client.set("a", b"x" * 100000)
    assert server.get("a") == b"x" * 100000
    with pytest.raises(dist.DistStoreError, match="1/2 clients joined"):
        dist.TCPStore("127.0.0.1", 0, 2, True, timeout=timedelta(seconds=0.1))
    server.close()
    with pytest.raises(dist.DistNetworkError, match="has ended"):
        client.get("a")


def test_a_client_is_not_connected_to_itself(monkeypatch):
    # While nobody listens on a port, the system may choose it for the caller, which is then its own peer.
    port = free_port()
    own = socket.socket()
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(("127.0.0.1", port))
    own.connect(("127.0.0.1", port))
    connect, answers = socket.create_connection, [own]
    monkeypatch.setattr(socket, "create_connection", lambda *args: answers.pop() if answers else connect(*args))
    with pytest.raises(dist.DistNetworkError, match="Connection refused"):
        dist.TCPStore("127.0.0.1", port, timeout=timedelta(seconds=0.05))
    assert own.fileno() == -1
