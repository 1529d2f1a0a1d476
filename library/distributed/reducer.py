"""Gradients of parameters, averaged over all ranks while the backward pass goes on.

Parameters lie in buckets, in the reverse of their order, which is about that in which gradients arrive. A bucket has
one tensor for the gradients of all its parameters. It is sent when the last of them has arrived and all buckets before
it are on their way, so that ranks send in the same order.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import int32, mul, zeros
from .._autograd import engine, record
from .._autograd.grad_mode import no_grad
from .._autograd.gradient_edge import edge
from .._base.types import strided
from .collectives import all_reduce
from .process_group import ProcessGroup
from .work import Work

__all__ = ["GradBucket", "Reducer"]


_REASON = "This error indicates that your module has parameters that were not used in producing loss. "
_TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
    "module parameter outside the `forward` function. Please make sure model parameters are not shared across multiple "
    "concurrent forward-backward passes. or try to use _set_static_graph() as a workaround if this module graph does "
    "not change during training loop.2) Reused parameters in multiple reentrant backward passes. For example, if you "
    "use multiple `checkpoint` functions to wrap the same part of your model, it would result in the same set of "
    "parameters been used by different reentrant backward passes multiple times, and hence marking a variable ready "
    "multiple times. DDP does not support such use cases in default. You can try to use _set_static_graph() as a "
    "workaround if your module graph does not change over iterations.\n"
)


class GradBucket:
    """Gradients that are reduced together, as communication hooks see them."""

    def __init__(self, bucket: _Bucket, index: int, is_last: bool) -> None:
        self._bucket = bucket
        self._buffer = bucket.buffer
        self._index = index
        self._is_last = is_last

    def index(self) -> int:
        """Return the number of the bucket; 0 is that of the parameters that come last in the module."""
        return self._index

    def buffer(self) -> Any:
        """Return the tensor, of one dimension, in which all gradients are."""
        return self._buffer

    def set_buffer(self, buffer: Any) -> None:
        """Replace the tensor in which all gradients are, for hooks that are called afterwards."""
        self._buffer = buffer

    def gradients(self) -> list[Any]:
        """Return the gradients, as views of the buffer."""
        return self._bucket.views_of(self._buffer)

    def parameters(self) -> list[Any]:
        """Return the parameters whose gradients these are."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Return whether no other bucket follows in this backward pass."""
        return self._is_last


class _Bucket:
    """The parameters of a bucket, and the tensor for their gradients."""

    def __init__(self, indices: Sequence[int], parameters: Sequence[Any]) -> None:
        self.indices = indices
        self.parameters = [parameters[index] for index in indices]
        self.buffer = zeros(sum(each.numel() for each in self.parameters), dtype=self.parameters[0].dtype)
        self.views = self.views_of(self.buffer)
        self.missing: set[int] = set()
        self.sent: Any = None
        """The Work that sends the buffer, or the future that a hook has returned."""

    def advance(self) -> None:
        """Let MPI go on, which moves nothing while it is not asked."""
        if isinstance(self.sent, Work):
            self.sent.is_completed()
        elif self.sent is not None:
            self.sent.done()

    def views_of(self, buffer: Any) -> list[Any]:
        """The parts of a buffer that are gradients of the parameters, with their strides."""
        parts = buffer.split([each.numel() for each in self.parameters])
        return [
            part.as_strided(each.shape, each.stride()) if _is_dense(each) else part.view(each.shape)
            for part, each in zip(parts, self.parameters, strict=True)
        ]


def _is_dense(tensor: Any) -> bool:
    return bool(tensor.is_contiguous()) or tensor.permute(*_by_stride(tensor)).is_contiguous()


def _by_stride(tensor: Any) -> list[int]:
    return sorted(range(tensor.ndim), key=tensor.stride, reverse=True)


def _assigned(parameters: Sequence[Any], limits: Sequence[int]) -> list[list[int]]:
    """The indices of the parameters of each bucket: those of one dtype together, until they fill it."""
    full: list[list[int]] = []
    filling: dict[Any, list[int]] = {}
    sizes: Counter[Any] = Counter()
    counts: Counter[Any] = Counter()
    for index in reversed(range(len(parameters))):
        dtype = parameters[index].dtype
        filling.setdefault(dtype, []).append(index)
        sizes[dtype] += parameters[index].nbytes
        if sizes[dtype] >= limits[min(counts[dtype], len(limits) - 1)]:
            full.append(filling.pop(dtype))
            counts[dtype] += 1
            del sizes[dtype]
    return full + list(filling.values())


class Reducer:
    """Averages the gradients of parameters over the ranks of a group, in the backward passes that it is prepared for.

    Args:
        parameters: those that require gradients.
        names: of the parameters, for messages.
        group (ProcessGroup): whose ranks take part.
        limits: the sizes of buckets in bytes, for each dtype; the last one holds for all that follow.
        is_viewed: whether gradients are views of the buckets.
        finds_unused: whether parameters that the outputs do not depend on are looked for.
        is_static: whether all passes use the same parameters as the first one.
    """

    def __init__(
        self,
        parameters: Sequence[Any],
        names: Sequence[str],
        group: ProcessGroup,
        limits: Sequence[int],
        is_viewed: bool,
        finds_unused: bool,
        is_static: bool,
    ) -> None:
        self.parameters = list(parameters)
        self.group = group
        self.is_static = is_static
        self._names = names
        self._is_viewed = is_viewed
        self._finds_unused = finds_unused
        self._hook: tuple[Callable[[Any, GradBucket], Any], Any] | None = None
        self._buckets = [_Bucket(indices, parameters) for indices in _assigned(parameters, limits)]
        self._places = {
            index: (bucket, place) for bucket in self._buckets for place, index in enumerate(bucket.indices)
        }
        self._unused: Sequence[int] = ()
        self._counts: Counter[int] = Counter()
        """The number of gradients that each parameter gets in a pass of a static graph."""
        self._left: Counter[int] = Counter()
        self._used_work: Work | None = None
        self._used: Any = None
        self._sparse: set[int] = set()
        self._active: Callable[[], float] = group.size
        self._scale = 1.0
        self._is_prepared = self._has_begun = self._is_first = False
        self._next = 0
        handles = [
            each.register_post_accumulate_grad_hook(_arrival(weakref.ref(self), index))
            for index, each in enumerate(parameters)
        ]
        self.remove_hooks = weakref.finalize(self, _remove, handles)

    def register_hook(self, hook: Callable[[Any, GradBucket], Any], state: Any) -> None:
        """Have buckets reduced by `hook(state, bucket)`, which returns a future.

        Raises:
            RuntimeError: there is a hook already.
        """
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._hook = hook, state

    def divide_by(self, active: Callable[[], float]) -> None:
        """Divide by the number that a function returns when gradients arrive, not by that of ranks."""
        self._active = active

    def prepare(self, outputs: Sequence[Any]) -> None:
        """Expect a backward pass from these outputs of the module.

        Raises:
            RuntimeError: that of the last time has not brought all gradients.
        """
        self.check_finished()
        self._is_prepared = True
        roots = [each for each in outputs if each.requires_grad]
        if self._finds_unused and not self.is_static and roots:
            reached = engine.nodes_below([(edge(each) or (record.leaf(each), 0))[0] for each in roots])
            self._unused = [
                index for index, each in enumerate(self.parameters) if record.leaf(each).number not in reached
            ]
        if len(self._buckets) > 1:
            for each in roots:
                found = edge(each)
                if found is not None and not found[0].collects:
                    each.register_hook(_early(found[0].number))

    def ignore_next(self) -> None:
        """Leave the gradients of the next backward pass as they are."""
        self._is_prepared = False

    def check_finished(self) -> None:
        """Raise RuntimeError if gradients are missing that a backward pass should have brought."""
        if not self._has_begun:
            return
        missing = sorted(index for bucket in self._buckets for index in bucket.missing)
        if self.is_static:
            reason = (
                "This error indicates that your training graph has changed in this iteration, e.g., one parameter is "
                "used in first iteration, but then got unused in the second iteration. this is not compatible with "
                "static_graph set to True."
            )
        elif self._finds_unused:
            reason = (
                f"{_REASON}Since `find_unused_parameters=True` is enabled, this likely  means that not all `forward` "
                "outputs participate in computing loss. You can fix this by making sure all `forward` function outputs "
                "participate in calculating loss. "
            )
        else:
            reason = (
                f"{_REASON}You can enable unused parameter detection by passing the keyword argument "
                "`find_unused_parameters=True` to `opweave.nn.parallel.DistributedDataParallel`, and by \nmaking sure "
                "all `forward` function outputs participate in calculating loss. "
            )
        raise RuntimeError(
            f"Expected to have finished reduction in the prior iteration before starting a new one. {reason}\n"
            f"Parameters which did not receive grad for rank {self.group.rank()}: "
            f"{', '.join(self._names[index] for index in missing)}\n"
            f"Parameter indices which did not receive grad for rank {self.group.rank()}: "
            f"{' '.join(map(str, missing))}"
        )

    @no_grad()
    def arrive(self, index: int) -> None:
        """Take note that a backward pass has added to the gradient of a parameter."""
        if not self._is_prepared:
            return
        if not self._has_begun:
            self._begin()
        if self._is_first:
            self._counts[index] += 1
            return
        if self.is_static:
            self._left[index] -= 1
            if self._left[index] > 0:
                return
        self._take(index)
        for bucket in self._buckets[: self._next]:
            bucket.advance()

    def _begin(self) -> None:
        self._has_begun = True
        self._next = 0
        self._scale = 1 / self._active()
        self._is_first = self.is_static and not self._counts
        for bucket in self._buckets:
            bucket.missing = set(bucket.indices)
        if self._is_first:
            engine.queue_callback(self._end_first)
            return
        self._left = self._counts.copy()
        if self.is_static:
            self._unused = [index for index in range(len(self.parameters)) if not self._counts[index]]
        for index in self._unused:
            self._take(index)

    @no_grad()
    def _end_first(self) -> None:
        """Reduce all gradients when the first pass of a static graph is over, as only then it is known."""
        self._is_first = False
        self._unused = [index for index in range(len(self.parameters)) if not self._counts[index]]
        for index in range(len(self.parameters)):
            self._take(index)

    def _take(self, index: int) -> None:
        """Put the gradient of a parameter into its bucket, and send the buckets that are complete."""
        bucket, place = self._places[index]
        if index not in bucket.missing:
            raise RuntimeError(_TWICE + f"Parameter at index {index} with name {self._names[index]} has been marked as "
                               "ready twice. This means that multiple autograd engine  hooks have fired for this "
                               "particular parameter during this iteration.")  # fmt: skip
        bucket.missing.remove(index)
        parameter, view = bucket.parameters[place], bucket.views[place]
        grad = parameter.grad
        if grad is None:
            view.zero_()
        elif grad is view:
            if self._hook is None:
                view.mul_(self._scale)
        else:
            if grad.layout is not strided:
                self._sparse.add(index)
                grad = grad.to_dense()
            if self._hook is None:
                mul(grad, self._scale, out=view)
            else:
                view.copy_(grad)
        while self._next < len(self._buckets) and not self._buckets[self._next].missing:
            self._next += 1
            bucket = self._buckets[self._next - 1]
            bucket.sent = self._send(bucket, self._next - 1)
            if self._next == len(self._buckets):
                self._send_used(set(range(len(self.parameters))).difference(self._unused))
                engine.queue_callback(self._finish)

    def _send(self, bucket: _Bucket, number: int) -> Any:
        if self._hook is None:
            return all_reduce(bucket.buffer, group=self.group, async_op=True)
        hook, state = self._hook
        return hook(state, GradBucket(bucket, number, number == len(self._buckets) - 1))

    def _send_used(self, used: Iterable[int]) -> None:
        """Ask which parameters no rank has used, where there may be some."""
        if self._finds_unused or self.is_static:
            self._used = zeros(len(self.parameters), dtype=int32)
            self._used[list(used)] = 1
            self._used_work = all_reduce(self._used, group=self.group, async_op=True)

    @no_grad()
    def _finish(self) -> None:
        """Wait for all buckets, and give parameters their gradients."""
        self._is_prepared = self._has_begun = False
        for bucket in self._buckets:
            result = bucket.sent.wait()
            if self._hook is not None:
                result = result[0] if isinstance(result, list) else result
                if result is not bucket.buffer:
                    bucket.buffer.copy_(result.view(-1))
            bucket.sent = None
        used = None
        if self._used_work is not None:
            self._used_work.wait()
            used, self._used_work = self._used.tolist(), None
        for index, (bucket, place) in self._places.items():
            if used is None or used[index]:
                self._give(index, bucket.parameters[place], bucket.views[place])

    def _give(self, index: int, parameter: Any, view: Any) -> None:
        grad = parameter.grad
        if index in self._sparse:
            parameter.grad = view.to_sparse(1)
        elif self._is_viewed:
            if grad is not view:
                parameter.grad = view
        elif grad is None:
            parameter.grad = view.clone()
        else:
            grad.copy_(view)

    @no_grad()
    def reduce_nothing(self) -> None:
        """Make the calls of a backward pass that brings no gradients: those of a rank that has no inputs left.

        Parameters get the averages of the other ranks, for optimizers of which each rank does a part.
        """
        for number, bucket in enumerate(self._buckets):
            bucket.buffer.zero_()
            bucket.sent = self._send(bucket, number)
        self._send_used([])
        self._finish()


def _arrival(reducer: weakref.ref[Reducer], index: int) -> Callable[[Any], None]:
    """The hook of a parameter, which does not keep the reducer alive."""

    def arrive(parameter: Any) -> None:
        found = reducer()
        if found is not None:
            found.arrive(index)

    return arrive


def _early(number: int) -> Callable[[Any], None]:
    """The hook of an output: parameters get their gradients as soon as these are complete."""

    def begin(grad: Any) -> None:
        current = engine.current_pass()
        assert current is not None, "hooks of gradients are called by backward passes"
        current.deliver_early(number)

    return begin


def _remove(handles: Sequence[Any]) -> None:
    for each in handles:
        each.remove()
