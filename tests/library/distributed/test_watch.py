"""The connections of rank 0 to more ranks than a process may have files by default."""

from __future__ import annotations

import resource
import socket
import struct
import threading
import time

import pytest
from opweave.distributed import DistBackendError
from opweave.distributed.watch import Watch

SIZE = 1100
needs_files = pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2 * SIZE + 200,
    reason="needs files for all ends of connections",
)


@pytest.fixture
def files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * SIZE + 200), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@needs_files
def test_an_end_of_one_of_many_ranks_is_noticed(files):
    others = {}

    def join(port):
        for rank in range(1, SIZE):
            others[rank] = socket.create_connection(("127.0.0.1", port))
            others[rank].sendall(struct.pack("<i", rank))

    def share(address):
        threading.Thread(target=join, args=(int(address.rpartition(b":")[2]),)).start()
        return address

    watch = Watch(0, SIZE, share, 60)
    others.pop(SIZE - 1).close()
    began = time.monotonic()
    with pytest.raises(DistBackendError, match=f"rank {SIZE - 1} has ended during a call"):
        watch.wait(lambda: False, range(SIZE), lambda: "a call", 30)
    assert time.monotonic() - began < 10
    others[1].settimeout(10)
    assert struct.unpack("<ii", others[1].recv(8, socket.MSG_WAITALL)) == (SIZE - 1, 0)
    for each in others.values():
        each.close()
