"""opweave.utils.data: data sets and how they are read in batches, as in torch.utils.data."""

from __future__ import annotations

from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._names.module_names import submodule as _submodule
from . import datapipes, distributed, graph, graph_settings
from .collate import default_collate, default_convert
from .dataloader import DataLoader
from .datapipes.datapipe import DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe
from .datapipes.decorators import (
    argument_validation,
    functional_datapipe,
    guaranteed_datapipes_determinism,
    non_deterministic,
    runtime_validation,
    runtime_validation_disabled,
)
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .sampler import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .worker import get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DFIterDataPipe", "DataChunk", "DataLoader", "Dataset",
    "DistributedSampler", "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "argument_validation", "datapipes", "default_collate", "default_convert", "distributed", "functional_datapipe",
    "get_worker_info", "graph", "graph_settings", "guaranteed_datapipes_determinism", "non_deterministic",
    "random_split", "runtime_validation", "runtime_validation_disabled",
]  # fmt: skip


if not _TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> _ModuleType:
        return _submodule(__name__, name)
