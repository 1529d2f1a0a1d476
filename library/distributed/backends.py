"""Names of backends. There is one, MPI; programs that name another one run with it."""

from __future__ import annotations

import warnings

__all__ = ["Backend", "named_backend"]

_OTHERS = ("gloo", "nccl", "ucc", "xccl")


class Backend(str):
    """The name of a backend, in lower case. A string of another case, or of a backend for each kind of device
    (`"cpu:gloo,cuda:nccl"`), is brought to one name.

    Raises:
        ValueError: the name is no string.
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    backend_list = (UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL)
    default_device_backend_map = {"cpu": MPI}  # noqa: RUF012 (torch's name of a plain dictionary)

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


def named_backend(name: str | None) -> Backend:
    """The backend of a name that init_process_group and new_group are given; None: MPI.

    Raises:
        ValueError: there is no backend of this name.
    """
    backend = Backend(name or Backend.MPI)
    of_cpu: Backend = backend
    for part in backend.split(","):
        device, _, own = part.rpartition(":")
        if device in ("", "cpu"):
            of_cpu = Backend(own)
    if of_cpu in _OTHERS:
        warnings.warn(f"opweave.distributed has no {of_cpu!r}: MPI does what is asked of it", stacklevel=3)
    elif of_cpu not in (Backend.MPI, Backend.UNDEFINED):
        raise ValueError(f"Invalid backend: '{name}'. There is 'mpi'; 'gloo' and 'nccl' stand for it")
    return of_cpu
