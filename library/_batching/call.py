"""A call of an operator with tensors that stand for samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _operators as ops
from .._base.handles import tensors_in
from .._base.notes import explained
from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.infer import infer
from .._dispatch.levels import level_of, run
from .._dispatch.op import INPLACE, NEW, Op
from .._dispatch.samples import BatchLevel, batch_of


class NotBatchedError(RuntimeError):
    """A call that no batch can have: it reads elements, or its result depends on them or on the order of samples."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        explained(self, "docs/batching.md")


class Call:
    """A call whose tensors of one level are samples. Its rules run outside that level, where they are batches.

    Attributes:
        op: the operator.
        args: its arguments, as the caller gave them.
        level: the innermost call of `vmap`.
        mode: whether the result is new or overwrites the target.
        tensors: all tensors, those of lists among them.
    """

    __slots__ = ("args", "level", "mode", "op", "tensors")

    def __init__(self, op: Op, args: Sequence[Any], level: BatchLevel, mode: int) -> None:
        self.op, self.args, self.level, self.mode = op, list(args), level, mode
        self.tensors = tensors_in(args)

    # ---- arguments ----

    def argument(self, name: str) -> Any:
        """Return the argument of this name."""
        return self.args[self.op.names.index(name)]

    @property
    def target(self) -> Any:
        """The tensor that the method is called of."""
        return self.args[self.op.target]

    def is_sample(self, value: Any) -> bool:
        """Return True if the value is a sample of the call's level."""
        return level_of(value) is self.level

    @property
    def ndim(self) -> int:
        """The most dimensions of its tensors."""
        return max(int(each.ndim) for each in self.tensors)

    # ---- their batches ----

    def batch(self, value: Any) -> Any:
        """The batch of a sample; any other value itself."""
        return batch_of(value) if self.is_sample(value) else value

    def aligned(self, value: Any, ndim: int) -> Any:
        """The batch of a sample, with dimensions of size 1 after the first one until a sample has `ndim`. Other tensors
        are broadcast with it as they are."""
        if not self.is_sample(value):
            return value
        batch = batch_of(value)
        missing = ndim - value.ndim
        return batch if missing <= 0 else batch.reshape((batch.shape[0], *[1] * missing, *batch.shape[1:]))

    def whole(self, value: Any, ndim: int | None = None) -> Any:
        """The batch of a sample; a batch of equal samples of any other tensor."""
        if not isinstance(value, Tensor):
            return value
        ndim = value.ndim if ndim is None else ndim
        if self.is_sample(value):
            return self.aligned(value, ndim)
        missing = [1] * (ndim - value.ndim)
        return value.reshape((1, *missing, *value.shape)).expand((self.level.size, *missing, *value.shape))

    # ---- calls ----

    def run(self, values: Sequence[Any]) -> Any:
        """The operator with batches."""
        return dispatch(self.op, values, None, self.mode) if self.is_inplace else self.run_new(values)

    def run_new(self, values: Sequence[Any]) -> Any:
        """The same for a new result, which is stored."""
        return self.stored(run(self.op, values))

    def stored(self, result: Any) -> Any:
        """The result, which is copied to the batch of the target where the call is in place."""
        return self.batch(self.target).copy_(result) if self.is_inplace else result

    def inferred(self) -> Any:
        """The result of the call of a sample, without its elements. Raises the errors of the call."""
        return infer(self.op, [_described(value) for value in self.args], None, NEW)

    @property
    def is_inplace(self) -> bool:
        """True if the call writes to its first argument."""
        return self.mode == INPLACE


def _described(value: Any) -> Any:
    """A tensor without memory in the place of another one, as samples are; with the same strides."""
    if isinstance(value, (list, tuple)):
        return [_described(each) for each in value]
    if not isinstance(value, Tensor) or level_of(value) is not None:
        return value
    return ops.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")


Rule = Callable[[Call], Any]
"""A function that returns the results of a call, as batches. In place it writes to the batch of the target; the result
does not matter."""
