"""opweave.utils.data.datapipes.iter: pipes that are iterated over."""

from __future__ import annotations

from ....._names.refusals import refused_class
from .combinatorics import ShufflerIterDataPipe as Shuffler
from .grouping import BatcherIterDataPipe as Batcher
from .grouping import UnBatcherIterDataPipe as UnBatcher
from .sharding import ShardingFilterIterDataPipe as ShardingFilter
from .utils import IterableWrapperIterDataPipe as IterableWrapper

_ABSENT = [
    "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker", "Grouper", "Mapper",
    "Multiplexer", "RoutedDecoder", "Sampler", "StreamReader", "Zipper",
]  # fmt: skip
_OWN = "pipes of other kinds are the program's own. Derive a class from IterDataPipe, with a generator as `__iter__`"

globals().update({name: refused_class(__name__, name, _OWN) for name in _ABSENT})

__all__ = ["Batcher", "IterableWrapper", "ShardingFilter", "Shuffler", "UnBatcher"]
__all__ += _ABSENT
