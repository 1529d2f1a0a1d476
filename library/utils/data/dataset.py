"""Data sets: by index, or one element after the other; and sets that are made of others."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ..._base.generator import default_generator
from ..._base.warn import warn
from ..._operators import randperm

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Base of data sets with an element for each index. A derived class defines `__getitem__(index)`, and `__len__()`;
    perhaps `__getitems__(indices)`, which returns the elements of a batch at once.
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Base of data sets that are read one element after the other. A derived class defines `__iter__()`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[Any]):
    """The positions of tensors along their first dimension, as tuples.

    Args:
        tensors: of the same first size.

    Raises:
        AssertionError: the sizes differ.
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors or any(each.size(0) != tensors[0].size(0) for each in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(each[index] for each in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)  # type: ignore[no-any-return]


class StackDataset(Dataset[Any]):
    """The elements of several sets beside each other, as tuples, or as dictionaries if the sets have names.

    Raises:
        ValueError: there are none, or the lengths differ, or some have names and some do not.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output"
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        listed = list(args or kwargs.values())
        self._length = len(listed[0])
        if any(len(each) != self._length for each in listed):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[Any]):
    """Several sets, one behind the other.

    Args:
        datasets (iterable): the sets.

    Raises:
        AssertionError: there are none, or one is iterable only.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[number][idx - (self.cumulative_sizes[number - 1] if number else 0)]


class ChainDataset(IterableDataset[Any]):
    """Several iterable sets, one behind the other.

    Args:
        datasets (iterable): the sets.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield each

    def __iter__(self) -> Iterator[Any]:
        for each in self._checked():
            yield from each

    def __len__(self) -> int:
        return sum(len(each) for each in self._checked())


class Subset(Dataset[T_co]):
    """Some elements of a set.

    Args:
        dataset (Dataset): the set.
        indices (sequence of int): which.
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[each] for each in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return the elements of a batch."""
        places = [self.indices[each] for each in indices]
        at_once = getattr(self.dataset, "__getitems__", None)
        return at_once(places) if callable(at_once) else [self.dataset[each] for each in places]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset[T], lengths: Sequence[float], generator: Any = default_generator) -> list[Subset[T]]:
    """Split a set at random.

    Args:
        dataset (Dataset): the set.
        lengths (sequence): the lengths of the parts, or which shares of the whole they are.
        generator (Generator): which draws the permutation.

    Raises:
        ValueError: the lengths are not those of the whole, or a share is not between 0 and 1.
    """
    total = len(dataset)  # type: ignore[arg-type]  # any object that has a length
    counts: Any = list(lengths)
    if math.isclose(sum(counts), 1) and sum(counts) <= 1:
        for place, share in enumerate(counts):
            if share < 0 or share > 1:
                raise ValueError(f"Fraction at index {place} is not between 0 and 1")
        counts = [math.floor(total * share) for share in counts]
        for place in range(total - sum(counts)):  # what is left goes to the parts in turn
            counts[place % len(counts)] += 1
        for place, count in enumerate(counts):
            if count == 0:
                warn(f"Length of split at index {place} is 0. This might result in an empty dataset.")
    if sum(counts) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = randperm(sum(counts), generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, indices[end - count : end]) for end, count in zip(ends, counts, strict=True)]
