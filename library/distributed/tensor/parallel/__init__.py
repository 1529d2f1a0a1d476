"""The namespace `opweave.distributed.tensor.parallel`: modules whose layers are split over the processes of a mesh."""

from __future__ import annotations

from ._layers import ColwiseParallel, RowwiseParallel, SequenceParallel
from ._loss import loss_parallel
from ._plan import parallelize_module
from ._preparation import PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput
from ._style import ParallelStyle

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "loss_parallel",
    "parallelize_module",
]
