"""opweave.utils.data: data sets and how they are read in batches, as in torch.utils.data."""

from __future__ import annotations

from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._names.module_names import submodule as _submodule
from ..._names.refusals import refused_function as _refused_function
from . import datapipes, distributed, graph, graph_settings
from .collate import default_collate, default_convert
from .dataloader import DataLoader
from .datapipes.datapipe import DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe, functional_datapipe
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

_ABSENT = [
    "argument_validation", "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation",
    "runtime_validation_disabled",
]  # fmt: skip
_UNCHECKED = "pipes are not checked for types and determinism. Leave it out"

globals().update({name: _refused_function(__name__, name, _UNCHECKED) for name in _ABSENT})

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DFIterDataPipe", "DataChunk", "DataLoader", "Dataset",
    "DistributedSampler", "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "datapipes", "default_collate", "default_convert", "distributed", "functional_datapipe", "get_worker_info", "graph",
    "graph_settings", "random_split",
]  # fmt: skip
__all__ += _ABSENT


if not _TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> _ModuleType:
        return _submodule(__name__, name)
