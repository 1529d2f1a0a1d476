"""Samplers: the order in which the elements of a data set are read, with the same seed as in torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ..._base.dtypes import EXPORTS
from ..._base.generator import Generator
from ..._operators import empty, multinomial, randint, randperm
from ..._tensor.construct import as_tensor
from ...distributed.process_group import GroupMember

__all__ = [
    "BatchSampler",
    "DistributedSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base of all samplers. A derived class defines `__iter__()`, which gives indices, and perhaps `__len__()`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("a sampler defines __iter__")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class SequentialSampler(Sampler[int]):
    """All indices in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order.

    Args:
        data_source (Sized): the set.
        replacement (bool): whether an index may come again before all others have come.
        num_samples (int): how many; None: as many as there are.
        generator (Generator): None: one that is seeded by the default one.

    Raises:
        TypeError: `replacement` is no bool.
        ValueError: the number is not positive.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source, self.replacement, self._num_samples = data_source, replacement, num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not _is_count(self.num_samples):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """The number of indices in a pass."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, total = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(int(empty((), dtype=EXPORTS["int64"]).random_().item()))
        if self.replacement:
            for size in (*(32,) * (total // 32), total % 32):
                yield from randint(0, count, (size,), dtype=EXPORTS["int64"], generator=generator).tolist()
        else:
            for _ in range(total // count):
                yield from randperm(count, generator=generator).tolist()
            yield from randperm(count, generator=generator).tolist()[: total % count]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some indices, in random order.

    Args:
        indices (sequence): which.
        generator (Generator): None: the default one.
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for place in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices with probabilities.

    Args:
        weights (sequence of float): which need not sum to one.
        num_samples (int): how many.
        replacement (bool): whether an index may come again.
        generator (Generator): None: the default one.

    Raises:
        ValueError: the number is not positive, `replacement` is no bool, or the weights are no sequence.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not _is_count(num_samples):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=EXPORTS["float64"])
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the indices of another sampler.

    Args:
        sampler (iterable): gives indices.
        batch_size (int): how many in each list.
        drop_last (bool): whether a last list that is shorter is left out.

    Raises:
        ValueError: the size is not positive, or `drop_last` no bool.
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not _is_count(batch_size):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


class DistributedSampler(Sampler[int]):
    """The share of one of several processes in the indices, which are shuffled by a seed that all of them have.

    Args:
        dataset (Sized): the set.
        num_replicas (int): how many processes; None: those of the group of all, or one where there is none.
        rank (int): which one this is; None: its number in the group.
        shuffle (bool): whether the order is random.
        seed (int): of all processes the same.
        drop_last (bool): whether elements are left out so that all have the same number. Otherwise some come twice.

    Raises:
        ValueError: there is no such process.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if GroupMember.WORLD is not None:
            num_replicas = GroupMember.WORLD.size() if num_replicas is None else num_replicas
            rank = GroupMember.WORLD.rank() if rank is None else rank
        count, rank = num_replicas or 1, rank or 0
        if rank >= count or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {count - 1}]")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, count, rank, 0
        self.drop_last, self.shuffle, self.seed = drop_last, shuffle, seed
        size = len(dataset)
        self.num_samples = math.ceil((size - count) / count if drop_last and size % count else size / count)
        self.total_size = self.num_samples * count

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        if self.shuffle:
            indices = randperm(size, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            indices = list(range(size))
        if not self.drop_last and indices:
            indices = (indices * math.ceil(self.total_size / size))[: self.total_size]
        return iter(indices[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the pass, which changes the order from the next one on."""
        self.epoch = epoch
