"""The tensors that stand for samples of a batch, within `vmap`."""

from __future__ import annotations

from typing import Any

from .levels import Level, held_by, stand_in, view_like


class BatchLevel(Level):
    """One call of `vmap`.

    Attributes:
        size: that of its batch.
        randomness: what calls that draw random numbers do: `error`, `different` or `same`.
    """

    __slots__ = ("randomness", "size")

    takes_all = True

    def __init__(self, size: int, randomness: str, is_recorded: bool) -> None:
        super().__init__(is_recorded)
        self.size, self.randomness = size, randomness


class _Batch:
    """The payload of a tensor that stands for a sample, and of views of it.

    Attributes:
        value: the batch, whose first dimension is that of the batch.
        level: the call of `vmap`.
    """

    __slots__ = ("level", "value")

    def __init__(self, value: Any, level: BatchLevel) -> None:
        self.value, self.level = value, level


def sample_of(batch: Any, level: BatchLevel) -> Any:
    """A tensor that stands for a sample of a batch, whose first dimension is that of the batch."""
    return stand_in(batch, 1, _Batch(batch, level))


def batch_of(sample: Any) -> Any:
    """The batch that a tensor stands for a sample of. Views have the geometry of samples: that of batches follows."""
    return view_like(sample, held_by(sample).value, 1)
