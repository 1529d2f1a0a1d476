"""Parameters that are gathered by one call, and whose gradients are reduced by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any
from weakref import WeakValueDictionary

from ... import cat, empty
from ..._autograd.grad_mode import inference_mode, no_grad
from ..._autograd.saved_tensors import saved_tensors_hooks
from ..._base.handles import shape_of, strides_of, wrap
from ..._base.keys import KEY_BITS
from ..._C import lib
from ..._handle import packing
from ..collectives import all_gather_into_tensor, all_reduce, reduce_scatter_tensor
from ..tensor._parts import store
from ._parameters import Layout, ShardedParameter
from ._policies import MixedPrecisionPolicy

__all__ = ["Unit", "saving_recipes"]

_units: WeakValueDictionary[int, Unit] = WeakValueDictionary()
"""The units whose parameters are whole, by the storage that these have."""


class Unit:
    """Parameters of one dtype, with what is under way for them.

    Args:
        parameters: those of a module that no unit of its parts has.
        layout (Layout): the processes.
        policy (MixedPrecisionPolicy): the dtypes of computation and of reductions.

    Attributes:
        reshards_after_forward, reshards_after_backward: whether memory is released then.
        unshards_in_backward: whether parameters are gathered when a backward pass comes to the module; they are
            gathered in any case when a gradient needs them.
        reduces: whether gradients are reduced, or kept on each process until they are.
        reduces_replicas: whether they are reduced over the processes that have the same shards, too.
        reduces_unused: whether parameters without a gradient take part, with zeros.
        divisor: what gradients are divided by; None: the number of processes.
        is_left_by_forward: whether the parameters are whole only because a backward pass was expected.
    """

    def __init__(self, parameters: Sequence[ShardedParameter], layout: Layout, policy: MixedPrecisionPolicy) -> None:
        self.parameters, self.layout, self.policy = parameters, layout, policy
        self.reshards_after_forward = self.reshards_after_backward = self.unshards_in_backward = True
        self.reduces = self.reduces_replicas = True
        self.reduces_unused = self.is_left_by_forward = False
        self.divisor: float | None = None
        self._memory: Any = None
        self._gathering: tuple[Any, Any] | None = None
        self._reducing: tuple[list[ShardedParameter], Any, Any] | None = None
        self._partial: Any = None
        """Gradients that were reduced over shards, and not over replicas yet."""

    @property
    def _dtype(self) -> Any:
        own = self.parameters[0].sharded.dtype
        return self.policy.param_dtype if self.policy.param_dtype and own.is_floating_point else own

    # ---- elements ----

    @no_grad()
    def begin_unshard(self) -> None:
        """Begin to gather the parameters, unless they are whole or on their way.

        Raises:
            RuntimeError: parameters are on the device `meta`.
        """
        if self._memory is not None or self._gathering is not None:
            return
        for each in self.parameters:
            each.refresh()
        self._check_materialized()
        sent = cat([each.shard(self._dtype) for each in self.parameters])
        received = empty(self.layout.shards.size() * sent.numel(), dtype=sent.dtype)
        self._gathering = received, all_gather_into_tensor(received, sent, self.layout.shards, async_op=True)

    def _check_materialized(self) -> None:
        missing = [each.name for each in self.parameters if each.sharded.device.type == "meta"]
        if missing:
            raise RuntimeError(
                "FSDP parameters should be materialized from meta device before training, but the following were still "
                f"on meta device: {missing}\nFor example, call module.to_empty(device) to materialize to device and "
                "call module.reset_parameters() on each module to initialize values."
            )

    @inference_mode(False)  # what it makes may be needed by passes with gradients
    @no_grad()
    def unshard(self) -> None:
        """Let the modules have whole parameters."""
        if self._memory is not None:
            return
        self.begin_unshard()
        assert self._gathering is not None
        received, work = self._gathering
        work.wait()
        ranks = self.layout.shards.size()
        rows = received.view(ranks, -1)
        self._gathering, self._memory = None, empty(received.numel(), dtype=received.dtype)
        for each, shards in _columns(self.parameters, rows):
            start = shards.storage_offset() * ranks
            each.fill(self._memory[start : start + ranks * each.count], shards)
        _units[lib.storage_of(self._memory._h)] = self

    @no_grad()
    def reshard(self) -> None:
        """Release the memory of whole parameters, and let the modules have the shards."""
        if self._gathering is not None:
            self._gathering[1].wait()
            self._gathering = None
        if self._memory is None:
            return
        for each in self.parameters:
            each.release()
        del _units[lib.storage_of(self._memory._h)]
        self._memory, self.is_left_by_forward = None, False

    def summon(self) -> None:
        """Let the modules have whole parameters of the dtype of the shards."""
        self.reshard()
        policy, self.policy = self.policy, MixedPrecisionPolicy()
        try:
            self.unshard()
        finally:
            self.policy = policy

    @no_grad()
    def write_back(self) -> None:
        """Write the elements of whole parameters to the shards."""
        for each in self.parameters:
            store(each.sharded, each.whole.detach())

    def saved(self, geometry: tuple[Any, ...]) -> Any:
        """Return a view of the whole parameters, which are gathered if they are not there."""
        self.unshard()
        dtype, sizes, strides, start = geometry
        handle = lib.as_strided(self._memory._h, sizes, strides, len(sizes), start, dtype)
        return wrap(handle)

    # ---- gradients ----

    @no_grad()
    def take_gradients(self) -> None:
        """Take the gradients that a backward pass has brought."""
        for each in self.parameters:
            each.take_gradient(self.policy.reduce_dtype)

    @no_grad()
    def begin_reduction(self) -> bool:
        """Begin to average gradients over the processes; whether there are any."""
        self.finish_reduction()
        ready = [
            each
            for each in self.parameters
            if each.gradient is not None or (self.reduces_unused and each.sharded.requires_grad)
        ]
        if not ready:
            return False
        given = next((each.gradient.dtype for each in ready if each.gradient is not None), None)
        dtype = given or self.policy.reduce_dtype or self._dtype
        sent = empty(self.layout.shards.size(), sum(each.count for each in ready), dtype=dtype)
        scale = 1 / (self.divisor or self.layout.mesh.size())
        for each, rows in _columns(ready, sent):
            each.spread_gradient(rows, scale)
        received = empty(sent.shape[1], dtype=dtype)
        work = reduce_scatter_tensor(received, sent, group=self.layout.shards, async_op=True)
        self._reducing = ready, received, work
        return True

    def advance(self) -> None:
        """Let MPI go on, which moves nothing while it is not asked."""
        if self._reducing is not None:
            self._reducing[2].is_completed()

    @no_grad()
    def finish_reduction(self) -> None:
        """Wait for the gradients, and give them to the shards."""
        if self._reducing is None:
            return
        ready, received, work = self._reducing
        self._reducing = None
        work.wait()
        if self.layout.replicas is not None:
            if self._partial is not None:
                received, self._partial = received.add_(self._partial), None
            if not self.reduces_replicas:
                self._partial = received
                return
            all_reduce(received, group=self.layout.replicas)
        for each, columns in _columns(ready, received.view(1, -1)):
            each.add_gradient(columns[0])

    def forget_gradients(self) -> None:
        """Drop gradients that are not reduced yet, after a pass that has failed."""
        if self._reducing is not None:
            self._reducing[2].wait()
        self._reducing = self._partial = None
        for each in self.parameters:
            each.gradient = None
            if each.whole is not None:
                each.whole.grad = None


def _columns(parameters: Sequence[ShardedParameter], rows: Any) -> Iterator[tuple[ShardedParameter, Any]]:
    """The columns that each of some parameters has in a matrix with a row for each process."""
    yield from zip(parameters, rows.split([each.count for each in parameters], 1), strict=True)


# ---- what graphs save ----------------------------------------------------------------------------------------


class _Recipes(saved_tensors_hooks):
    """A context in which graphs keep, in place of whole parameters and of views of them, how these are gathered again.

    All other tensors are saved as they are.
    """

    def __init__(self) -> None:
        super().__init__(_pack, lambda packed: packed[0].saved(packed[1]))

    def _ow_takes(self, tensor: Any) -> bool:
        handle = tensor._h
        return lib.storage_of(handle) in _units and not lib.keys(handle) & KEY_BITS["conj"]


def _pack(tensor: Any) -> tuple[Unit, tuple[Any, ...]]:
    handle = tensor._h
    geometry = lib.dtype(handle), tuple(shape_of(handle)), tuple(strides_of(handle)), lib.storage_offset(handle)
    return _units[lib.storage_of(handle)], geometry


def saving_recipes() -> Any:
    """A context in which graphs do not keep whole parameters, unless hooks of others decide what they keep."""
    return nullcontext() if packing() else _Recipes()
