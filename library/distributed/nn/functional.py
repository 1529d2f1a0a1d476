"""Collectives that return new tensors and have gradients, which are collectives as well: every rank must compute them.

Their gradient is that of the sum of what all ranks compute of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import empty_like, zeros_like
from ...autograd import Function
from .. import collectives
from .._functional_collectives import _AllReduce
from ..checks import get_group_rank
from ..process_group import ProcessGroup, given_group
from ..reduce_op import ReduceOp

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def _is(rank: int, group: ProcessGroup) -> bool:
    return group.rank() == get_group_rank(group, rank)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, src: int, group: ProcessGroup) -> Any:
        ctx.src, ctx.group = src, group
        result = tensor.detach().clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        total = _Reduce.apply(grad, ctx.src, ReduceOp.SUM, ctx.group)
        return total if _is(ctx.src, ctx.group) else zeros_like(total), None, None


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, dst: int, op: Any, group: ProcessGroup) -> Any:
        ctx.dst, ctx.group = dst, group
        result = tensor.detach().clone()
        collectives.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Broadcast.apply(grad, ctx.dst, ctx.group), None, None, None


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, dst: int, group: ProcessGroup) -> Any:
        ctx.dst, ctx.group = dst, group
        results = [zeros_like(tensor) for _ in range(group.size())]
        collectives.gather(tensor.detach(), results if _is(dst, group) else None, dst, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _Scatter.apply(ctx.dst, ctx.group, *grads), None, None


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup, *tensors: Any) -> Any:
        ctx.src, ctx.group = src, group
        result = zeros_like(tensors[0])
        collectives.scatter(result, [each.detach() for each in tensors] if _is(src, group) else None, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, *_Gather.apply(grad, ctx.src, ctx.group)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, group: ProcessGroup) -> Any:
        ctx.group = group
        results = [empty_like(tensor) for _ in range(group.size())]
        collectives.all_gather(results, tensor.detach(), group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _ReduceScatter.apply(ReduceOp.SUM, ctx.group, *grads), None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: ProcessGroup, *tensors: Any) -> Any:
        ctx.group = group
        result = empty_like(tensors[0])
        collectives.reduce_scatter(result, [each.detach() for each in tensors], op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, *_AllGather.apply(grad, ctx.group)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, outputs: Sequence[Any], *tensors: Any) -> Any:
        ctx.group = group
        ctx.shapes = [each.shape for each in tensors]
        collectives.all_to_all(list(outputs), [each.detach() for each in tensors], group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        outputs = [grads[0].new_empty(shape) for shape in ctx.shapes]
        return None, None, *_AllToAll.apply(ctx.group, outputs, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, output: Any, output_sizes: Any, input_sizes: Any, given: Any) -> Any:
        ctx.group, ctx.sizes, ctx.shape = group, (output_sizes, input_sizes), given.shape
        collectives.all_to_all_single(output, given.detach(), output_sizes, input_sizes, group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        output_sizes, input_sizes = ctx.sizes
        given = _AllToAllSingle.apply(ctx.group, grad.new_empty(ctx.shape), input_sizes, output_sizes, grad)
        return None, None, None, None, given


def broadcast(tensor: Any, src: int, group: ProcessGroup | None = None) -> Any:
    """Return the tensor of rank `src`."""
    return _Broadcast.apply(tensor, src, given_group(group))


def gather(tensor: Any, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks on rank `dst`, zeros on others."""
    return tuple(_Gather.apply(tensor, dst, given_group(group)))


def scatter(tensors: Sequence[Any], src: int = 0, group: ProcessGroup | None = None) -> Any:
    """Return the one of the tensors of rank `src` that is for this rank; others give tensors of the same shape."""
    return _Scatter.apply(src, given_group(group), *tensors)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None) -> Any:
    """Return the tensors of all ranks combined on rank `dst`, and the own one on others."""
    return _Reduce.apply(tensor, dst, op, given_group(group))


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: Any = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Any:
    """Return this rank's tensor of the lists of all ranks combined."""
    return _ReduceScatter.apply(op, given_group(group), *input_list)


def all_gather(tensor: Any, group: ProcessGroup | None = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks."""
    return tuple(_AllGather.apply(tensor, given_group(group)))


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: ProcessGroup | None = None
) -> tuple[Any, ...]:
    """Return the tensors that the ranks send this one, in those of the output list."""
    return tuple(_AllToAll.apply(given_group(group), output_tensor_list, *input_tensor_list))


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
) -> Any:
    """Return the parts that the ranks send this one, joined in the output."""
    return _AllToAllSingle.apply(given_group(group), output, output_split_sizes, input_split_sizes, input)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None) -> Any:
    """Return the tensors of all ranks combined."""
    return _AllReduce.apply(tensor, op, given_group(group))
