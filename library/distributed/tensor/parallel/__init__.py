"""The namespace `opweave.distributed.tensor.parallel`: modules whose layers are split over the processes of a mesh."""

from __future__ import annotations

from ...._names.refusals import refused_function
from ._layers import ColwiseParallel, RowwiseParallel, SequenceParallel
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

loss_parallel = refused_function(
    __name__, "loss_parallel", "cross_entropy() of sharded scores gathers them by itself. Leave the context out"
)
