"""The calls that all ranks of a group make: reductions, copies to all, barriers.

Memory that is contiguous is read and written where it is; other tensors by way of a copy. What a rank gives wrong
raises torch's exceptions before anything is sent; what differs between ranks raises an error on all of them
(work.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from opweave._C import lib

from .. import cat, empty
from .._autograd.grad_mode import no_grad
from .._base.keys import KEY_BITS
from .agreement import Call
from .checks import (
    check_dtypes,
    check_equal,
    check_kind,
    check_tensor,
    check_tensors,
    rank_in,
    warn_outside,
)
from .process_group import ProcessGroup, given_group, is_outside
from .reduce_op import ReduceOp, combination, factor_of, kind_of
from .work import Agreed, Work, agree

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
]

_CAPACITY = lib.message_capacity()
_CONTIGUOUS = 1
"""OW_CONTIGUOUS, a flag of handles."""
_CONJ = KEY_BITS["conj"]


def _memory(tensor: Any) -> Any:
    """A contiguous tensor with the elements of this one, which is itself if it can be."""
    handle = tensor._h
    if lib.flags(handle) & _CONTIGUOUS and not lib.keys(handle) & _CONJ:
        return tensor
    return tensor.detach().contiguous().resolve_conj()


def _put(tensor: Any, memory: Any) -> None:
    """Give a tensor what has arrived in memory, which may be its own."""
    if memory is tensor:
        lib.count_write(tensor._h)
    else:
        with no_grad():
            tensor.copy_(memory.view(tensor.shape))


def _put_parts(tensors: Sequence[Any], memory: Any) -> None:
    for tensor, part in zip(tensors, memory.unbind(0), strict=True):
        _put(tensor, part)


def _joined(tensors: Sequence[Any]) -> Any:
    """The elements of several tensors of one size, one after the other."""
    return cat([each.detach().reshape(1, -1) for each in tensors])


def _made(work: Work, async_op: bool) -> Work | None:
    if async_op:
        return work
    work.wait()
    return None


def _average(tensor: Any, group: ProcessGroup) -> None:
    with no_grad():
        if tensor.is_floating_point() or tensor.is_complex():
            tensor.div_(group.size())
        else:
            tensor.div_(group.size(), rounding_mode="trunc")


def _reduced(tensor: Any, memory: Any, kind: Any, group: ProcessGroup) -> Callable[[], None]:
    """The function that does what remains when the sum of all ranks is in memory."""

    def finish() -> None:
        if kind is ReduceOp.AVG:
            _average(memory, group)
        _put(tensor, memory)

    return finish


def _premultiplied(memory: Any, original: Any, op: Any) -> Any:
    """The memory that is sent, multiplied by the factor of PREMUL_SUM; not in place where it is the caller's input."""
    factor = factor_of(op)
    if factor is None:
        return memory
    with no_grad():
        return memory.mul_(factor) if memory is not original else memory.mul(factor)


def all_reduce(
    tensor: Any, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Combine the tensors of all ranks by `op`, and give each of them the result, in place.

    Args:
        tensor (Tensor): of the same shape and dtype on all ranks.
        op (ReduceOp): SUM by default.
        async_op (bool): return the Work, which is waited for later.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("all_reduce")
        return None
    kind = kind_of(op)
    check_kind("all_reduce", kind, tensor)
    group = given_group(group)
    memory = _memory(tensor)
    factor = factor_of(op)
    if factor is not None:
        with no_grad():
            memory.mul_(factor)
    call = Call("all_reduce", tensor, kind)
    finish = _reduced(tensor, memory, kind, group) if kind is ReduceOp.AVG or memory is not tensor else None
    if tensor.numel() * tensor.dtype.itemsize > _CAPACITY:
        transport = group.transport
        finish = finish or (lambda: _put(tensor, memory))
        return _made(Agreed(group, call, lambda: transport.all_reduce(memory, kind), finish, [tensor]), async_op)
    if async_op:
        return Agreed(group, call, None, finish, [tensor], (memory, combination(kind)))
    agree(group, call, memory, combination(kind))
    if finish is not None:
        finish()
    return None


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Combine the tensors of all ranks by `op` in that of rank `dst`, in place. The others keep theirs.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("reduce")
        return None
    group, kind = given_group(group), kind_of(op)
    check_kind("reduce", kind, tensor)
    root = rank_in(group, dst, group_dst)
    is_root = group.rank() == root
    memory = _premultiplied(_memory(tensor), tensor, op)
    return _made(
        Agreed(
            group,
            Call("reduce", tensor, kind, root),
            lambda: group.transport.reduce(memory, root, kind),
            _reduced(tensor, memory, kind, group) if is_root else None,
            [tensor],
        ),
        async_op,
    )


def broadcast(
    tensor: Any,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the tensor of rank `src` to those of all others, in place.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_outside("broadcast")
        return None
    group = given_group(group)
    root = rank_in(group, src, group_src)
    memory = _memory(tensor)
    finish = None if group.rank() == root else (lambda: _put(tensor, memory))
    call = Call("broadcast", tensor, None, root)
    return _made(Agreed(group, call, lambda: group.transport.broadcast(memory, root), finish, [tensor]), async_op)


def all_gather(
    tensor_list: list[Any], tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Give all ranks the tensors of all: `tensor_list` has one for each, of the shape of `tensor`.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_dtypes(tensor_list, tensor)
    if is_outside(group):
        warn_outside("all_gather")
        return None
    group = given_group(group)
    _check_length("all_gather", tensor_list, group)
    check_equal("all_gather", tensor_list, tensor)
    memory, received = _memory(tensor), empty(group.size(), tensor.numel(), dtype=tensor.dtype)
    return _made(
        Agreed(
            group,
            Call("all_gather", tensor),
            lambda: group.transport.all_gather(received, memory),
            lambda: _put_parts(tensor_list, received),
            tensor_list,
        ),
        async_op,
    )


def _check_length(call: str, tensors: Sequence[Any], group: ProcessGroup) -> None:
    if len(tensors) != group.size():
        raise ValueError(f"{call}: invalid tensor list (expected length {group.size()}, got {len(tensors)})")


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Give all ranks the tensors of all, joined or stacked along the first dimension of `output_tensor`.

    Raises:
        ValueError: the output has not as many elements as all inputs.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    if is_outside(group):
        warn_outside("all_gather_into_tensor")
        return None
    group = given_group(group)
    _check_parts("output", output_tensor, "input", input_tensor, group)
    memory, received = _memory(input_tensor), _memory(output_tensor)
    return _made(
        Agreed(
            group,
            Call("all_gather", input_tensor),
            lambda: group.transport.all_gather(received, memory),
            lambda: _put(output_tensor, received),
            [output_tensor],
        ),
        async_op,
    )


def _check_parts(whole_name: str, whole: Any, part_name: str, part: Any, group: ProcessGroup) -> None:
    if whole.dtype is not part.dtype:
        raise TypeError(
            f"output tensor must have the same type as input tensor, but got {whole.dtype} and {part.dtype}"
        )
    if whole.numel() != part.numel() * group.size():
        raise ValueError(f"{whole_name} tensor size must be equal to world_size times {part_name} tensor size")


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Give rank `dst` (0 by default) the tensors of all: its `gather_list` has one for each, others give none.

    Raises:
        ValueError: the list is missing on that rank, or given on another one.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(tensor, "tensor")
    parts = gather_list or []
    check_tensors(parts, "gather_list")
    check_dtypes(tensor, parts)
    if is_outside(group):
        warn_outside("gather")
        return None
    group = given_group(group)
    root = rank_in(group, 0 if dst is None and group_dst is None else dst, group_dst)
    is_root = _has_list("gather", "destination", parts, tensor, root, group)
    memory = _memory(tensor)
    received = empty(group.size(), tensor.numel(), dtype=tensor.dtype) if is_root else None
    return _made(
        Agreed(
            group,
            Call("gather", tensor, None, root),
            lambda: group.transport.gather(received, memory, root),
            (lambda: _put_parts(parts, received)) if is_root else None,
            parts,
        ),
        async_op,
    )


def _has_list(call: str, end: str, parts: Sequence[Any], tensor: Any, root: int, group: ProcessGroup) -> bool:
    """Whether this rank is the one with the list of tensors, which must be given there alone."""
    is_root = group.rank() == root
    if is_root and not parts:
        raise ValueError(f"Argument ``{call}_list`` must be specified on {end} rank.")
    if parts and not is_root:
        raise ValueError(f"Argument ``{call}_list`` must NOT be specified on non-{end} ranks.")
    if is_root:
        _check_length(call, parts, group)
        check_equal(call, parts, tensor)
    return is_root


def scatter(
    tensor: Any,
    scatter_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank one of the tensors in the `scatter_list` of rank `src` (0 by default); others give none.

    Raises:
        ValueError: the list is missing on that rank, or given on another one.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(tensor, "tensor")
    parts = scatter_list or []
    check_tensors(parts, "scatter_list")
    check_dtypes(tensor, parts)
    if is_outside(group):
        warn_outside("scatter")
        return None
    group = given_group(group)
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    is_root = _has_list("scatter", "source", parts, tensor, root, group)
    received, given = _memory(tensor), _joined(parts) if is_root else None
    return _made(
        Agreed(
            group,
            Call("scatter", tensor, None, root),
            lambda: group.transport.scatter(received, given, root),
            lambda: _put(tensor, received),
            [tensor],
        ),
        async_op,
    )


def reduce_scatter(
    output: Any,
    input_list: list[Any],
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Combine the lists of all ranks by `op`, tensor by tensor, and give each rank the one of its number.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    check_dtypes(output, input_list)
    if is_outside(group):
        warn_outside("reduce_scatter")
        return None
    group = given_group(group)
    _check_length("reduce_scatter", input_list, group)
    check_equal("reduce_scatter", input_list, output)
    return _reduce_scatter(output, _joined(input_list), None, op, group, async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Combine the inputs of all ranks by `op`, and give each rank its part, along the first dimension.

    Raises:
        ValueError: the input has not as many elements as all outputs.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    if is_outside(group):
        warn_outside("reduce_scatter_tensor")
        return None
    group = given_group(group)
    _check_parts("input", input, "output", output, group)
    return _reduce_scatter(output, _memory(input), input, op, group, async_op)


def _reduce_scatter(
    output: Any, given: Any, original: Any, op: Any, group: ProcessGroup, async_op: bool
) -> Work | None:
    kind = kind_of(op)
    check_kind("reduce_scatter", kind, output)
    sent, received = _premultiplied(given, original, op), _memory(output)
    return _made(
        Agreed(
            group,
            Call("reduce_scatter", output, kind),
            lambda: group.transport.reduce_scatter(received, sent, kind),
            _reduced(output, received, kind, group),
            [output],
        ),
        async_op,
    )


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send each rank a part of `input`, along its first dimension, and join what arrives in `output`.

    Args:
        output_split_sizes, input_split_sizes (list of int): the sizes of the parts; None: equal ones.

    Raises:
        ValueError: the sizes are not those of the tensors.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_dtypes(output, input)
    if is_outside(group):
        warn_outside("all_to_all_single")
        return None
    group = given_group(group)
    counts = [_split(each, sizes, group) for each, sizes in ((output, output_split_sizes), (input, input_split_sizes))]
    memory, received = _memory(input), _memory(output)
    return _made(
        Agreed(
            group,
            Call("all_to_all", input[:0]),
            lambda: group.transport.all_to_all(received, memory, *counts),
            lambda: _put(output, received),
            [output],
        ),
        async_op,
    )


def _split(tensor: Any, sizes: Sequence[int] | None, group: ProcessGroup) -> list[int]:
    """The numbers of elements of the parts of a tensor, one for each rank."""
    length = tensor.shape[0] if tensor.ndim else 0
    if not sizes:
        if length % group.size():
            raise ValueError(f"Tensor's dim 0 does not divide equally across group size: {length} and {group.size()}")
        sizes = [length // group.size()] * group.size()
    if len(sizes) != group.size():
        raise ValueError(f"Number of tensor splits not equal to group size: {len(sizes)} and {group.size()}")
    if sum(sizes) != length:
        raise ValueError(f"Split sizes doesn't match total dim 0 size: {sum(sizes)} and {length}")
    return [size * (tensor.numel() // length if length else 0) for size in sizes]


def all_to_all(
    output_tensor_list: list[Any],
    input_tensor_list: list[Any],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send each rank the tensor of its number, and receive one of each. Sizes may differ.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    check_dtypes(output_tensor_list, input_tensor_list)
    if is_outside(group):
        warn_outside("all_to_all")
        return None
    group = given_group(group)
    for tensors in (output_tensor_list, input_tensor_list):
        _check_length("all_to_all", tensors, group)
    given = cat([each.detach().reshape(-1) for each in input_tensor_list])
    counts, given_counts = ([each.numel() for each in tensors] for tensors in (output_tensor_list, input_tensor_list))
    received = empty(sum(counts), dtype=output_tensor_list[0].dtype)

    def finish() -> None:
        for tensor, part in zip(output_tensor_list, received.split(counts), strict=True):
            _put(tensor, part)

    return _made(
        Agreed(
            group,
            Call("all_to_all", given[:0]),
            lambda: group.transport.all_to_all(received, given, counts, given_counts),
            finish,
            output_tensor_list,
        ),
        async_op,
    )


def barrier(
    group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Wait until all ranks have called it.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if is_outside(group):
        warn_outside("barrier")
        return None
    if async_op or timeout is not None:
        work = Agreed(given_group(group), Call("barrier"), None)
        if async_op:
            return work
        work.wait(timeout)
    else:
        agree(given_group(group), Call("barrier"))
    return None
