"""Class DataLoader, which reads a data set in batches, in this process or by workers."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar

from ..._base.dtypes import EXPORTS
from ..._base.pinning import can_pin
from ..._base.warn import warn
from ..._operators import empty
from .collate import default_collate, default_convert
from .datapipes.datapipe import IterDataPipe
from .dataset import Dataset, IterableDataset
from .graph_settings import apply_shuffle_settings, prepare_pipes
from .pinning import pin_memory
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .worker import EndOfDataError, Fetcher, _BaseDataLoaderIter

__all__ = ["DataLoader"]

T_co = TypeVar("T_co", covariant=True)
_collate_fn_t: TypeAlias = Callable[[list[Any]], Any]
_worker_init_fn_t: TypeAlias = Callable[[int], None]


def __getattr__(name: str) -> Any:
    if name == "_MultiProcessingDataLoaderIter":  # modules are imported where they are used
        from .workers import Workers

        return Workers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Forever:
    """The indices of an iterable data set, which has none."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of a data set, in an order that the seed of the default generator says, as in torch.

    Args:
        dataset (Dataset): the set.
        batch_size (int): how many elements in each batch; None: elements come one by one.
        shuffle (bool): whether the order is random.
        sampler (iterable): indices, in place of `shuffle`.
        batch_sampler (iterable): lists of indices, in place of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers (int): how many processes read; 0: this one does.
        collate_fn (Callable): makes a batch of a list of elements.
        pin_memory (bool): whether batches are copied to memory of the CPU that the accelerator allocates. Without
            one, or one with such memory, a warning says that they are not.
        drop_last (bool): whether a last batch that is shorter is left out.
        timeout (float): how many seconds to wait for a worker; 0: for ever.
        worker_init_fn (Callable): is called with its number in each worker, once it is seeded.
        multiprocessing_context: how workers are started, as `fork` or `spawn`.
        generator (Generator): which draws the order and the seed of workers.
        prefetch_factor (int): how many batches each worker has ahead; None: 2.
        persistent_workers (bool): whether workers live on after a pass over the data.
        pin_memory_device (str): without effect but for a warning, as in torch.
        in_order (bool): whether batches come in the order of their indices also from several workers.

    Raises:
        ValueError: options exclude each other, or are out of range.
    """

    _iterator: Any = None

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        self.dataset: Any = dataset
        self.num_workers, self.timeout = num_workers, timeout
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.worker_init_fn, self.in_order = worker_init_fn, in_order
        self._is_iterable = isinstance(dataset, IterableDataset)
        if isinstance(dataset, IterDataPipe):
            self.dataset, shuffle = apply_shuffle_settings(dataset, shuffle), None
        if self._is_iterable:
            if shuffle:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
                )
            for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
                if given is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._is_iterable:
                sampler = _Forever()
            else:
                samples = self.dataset
                sampler = RandomSampler(samples, generator=generator) if shuffle else SequentialSampler(samples)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = (
            batch_size,
            drop_last,
            sampler,
            batch_sampler,
        )
        self.generator, self.persistent_workers = generator, persistent_workers
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.multiprocessing_context = multiprocessing_context
        self.__initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if name in fixed and self.__dict__.get("_DataLoader__initialized"):
            raise ValueError(f"{name} attribute should not be set after {self.__class__.__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _pins(self) -> bool:
        """Return True if the batches of a pass are pinned. Warns where they cannot be."""
        if self.pin_memory and self.pin_memory_device:
            warn(
                "pin_memory_device is deprecated, the current accelerator will be used as the device,"
                f"ignore pin_memory_device='{self.pin_memory_device}'."
            )
        if self.pin_memory and not can_pin():
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used."
            )
        return self.pin_memory and can_pin()

    def _options(self) -> tuple[bool, Callable[[Any], Any], bool]:
        return self._auto_collation, self.collate_fn, self.drop_last

    def _seed(self) -> int:
        drawn = empty((), dtype=EXPORTS["int64"]).random_(generator=self.generator)
        return int(drawn.item())

    def _pipe_seed(self) -> int | None:
        """Return the seed of the pipes, which is the same in all workers."""
        return self._seed() if isinstance(self.dataset, IterDataPipe) else None

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return _SingleProcessDataLoaderIter(self)
        from .workers import Workers

        if not self.persistent_workers:
            return iter(Workers(self))
        if self._iterator is None or self._iterator.closed:
            self._iterator = Workers(self)
            return iter(self._iterator)
        return iter(self._iterator.anew())

    def __len__(self) -> int:
        """The number of batches."""
        if not self._is_iterable:
            return len(self._index_sampler)
        length = len(self.dataset)
        if self.batch_size is not None:
            return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        return length


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The batches of one pass, made in this process."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        prepare_pipes(loader.dataset, loader._pipe_seed())
        self._indices = iter(loader._index_sampler)
        self._base_seed = loader._seed()
        self._fetcher = Fetcher(loader.dataset, *loader._options())
        self._loader, self._pin_memory = loader, loader._pins()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        indices = next(self._indices)
        try:
            batch = self._fetcher.fetch(indices)
        except EndOfDataError:
            raise StopIteration from None
        return pin_memory(batch) if self._pin_memory else batch

    def __len__(self) -> int:
        return len(self._loader)


def _check(workers: int, timeout: float, prefetch: int | None, persistent: bool, context: Any) -> None:
    if workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if workers == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. Let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None:
        if not workers:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                f"num_workers={workers}"
            )
        if isinstance(context, str) and context not in multiprocessing.get_all_start_methods():
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{multiprocessing.get_all_start_methods()!r}, but got multiprocessing_context={context!r}"
            )
        if not isinstance(context, (str, multiprocessing.context.BaseContext)):
            raise TypeError(
                "multiprocessing_context option should be a valid context object or a string specifying the start "
                f"method, but got multiprocessing_context={context}"
            )
    if workers > (multiprocessing.cpu_count() or 1):
        warn(f"{workers} workers are more than the processors of this machine, which may be slower than fewer.")
