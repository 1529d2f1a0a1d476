"""The namespace `opweave.distributed.nn`: collectives with gradients, in `functional`."""

from __future__ import annotations

from ..._names.refusals import refused_class
from . import functional
from .functional import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__all__ = [
    "RemoteModule",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "functional",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

RemoteModule = refused_class(
    __name__, "RemoteModule", "modules are not called in other processes. Use opweave.distributed"
)
