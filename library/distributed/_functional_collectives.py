"""Collectives that return new tensors and leave their inputs as they are. All but `broadcast` have gradients, which are
collectives as well, so every rank must compute them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import cat, empty
from ..autograd import Function
from . import collectives
from .process_group import ProcessGroup, given_group
from .reduce_op import ReduceOp

__all__ = [
    "AsyncCollectiveTensor",
    "all_gather_single_autograd",
    "all_gather_tensor",
    "all_gather_tensor_autograd",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all_single",
    "all_to_all_single_autograd",
    "broadcast",
    "permute_tensor",
    "reduce_scatter_single_autograd",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_autograd",
    "wait_tensor",
]

_OPERATIONS = {kind.name.lower(): kind for kind in ReduceOp.RedOpType}


class AsyncCollectiveTensor:
    """The class of torch's results that have not arrived yet; here results have, and none is of it."""


def wait_tensor(tensor: Any) -> Any:
    """Return a tensor when it has arrived, as it has."""
    return tensor


def _kind(name: Any) -> Any:
    """The reduction of a name, as `sum`."""
    if isinstance(name, str):
        if name.lower() not in _OPERATIONS:
            raise ValueError(f"Invalid reduction: {name!r}; there are {', '.join(_OPERATIONS)}")
        return _OPERATIONS[name.lower()]
    return name


def _group(group: Any) -> ProcessGroup:
    """The group that is given, or None: that of all processes; torch takes it in a tuple or a mesh as well."""
    if isinstance(group, tuple):
        group = group[0]
    if hasattr(group, "get_group"):
        group = group.get_group()
    return given_group(group)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, kind: Any, group: Any) -> Any:
        ctx.kind, ctx.group = kind, group
        result = tensor.detach().contiguous().clone()
        collectives.all_reduce(result, kind, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _AllReduce.apply(grad, ctx.kind, ctx.group), None, None


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, group: Any) -> Any:
        ctx.group = group
        result = empty(group.size() * tensor.shape[0], *tensor.shape[1:], dtype=tensor.dtype)
        collectives.all_gather_into_tensor(result, tensor.detach(), group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _ReduceScatter.apply(grad, ReduceOp.SUM, ctx.group), None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, kind: Any, group: Any) -> Any:
        ctx.group, ctx.divisor = group, group.size() if kind is ReduceOp.AVG else 1
        result = empty(tensor.shape[0] // group.size(), *tensor.shape[1:], dtype=tensor.dtype)
        collectives.reduce_scatter_tensor(result, tensor.detach(), kind, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _AllGather.apply(grad / ctx.divisor if ctx.divisor > 1 else grad, ctx.group), None, None


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, output_sizes: Any, input_sizes: Any, group: Any) -> Any:
        ctx.sizes, ctx.group = (output_sizes, input_sizes), group
        length = tensor.shape[0] if output_sizes is None else sum(output_sizes)
        result = empty(length, *tensor.shape[1:], dtype=tensor.dtype)
        collectives.all_to_all_single(result, tensor.detach(), output_sizes, input_sizes, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        output_sizes, input_sizes = ctx.sizes
        return _AllToAll.apply(grad, input_sizes, output_sizes, ctx.group), None, None, None


def all_reduce(tensor: Any, reduceOp: Any, group: Any = None, tag: str = "") -> Any:  # noqa: N803 (torch's name)
    """Return the tensors of all ranks combined by a reduction, given by its name (`sum`, `avg`, `max`, …)."""
    return _AllReduce.apply(tensor, _kind(reduceOp), _group(group))


def all_reduce_coalesced(tensors: Sequence[Any], reduceOp: Any, group: Any = None, tag: str = "") -> list[Any]:  # noqa: N803
    """Return several tensors, each as by all_reduce."""
    return [all_reduce(tensor, reduceOp, group) for tensor in tensors]


def broadcast(tensor: Any, src: int, group: Any = None, tag: str = "") -> Any:
    """Return the tensor of rank `src`."""
    result = tensor.detach().contiguous().clone()
    collectives.broadcast(result, src, _group(group))
    return result


def all_gather_tensor(tensor: Any, gather_dim: int, group: Any = None, tag: str = "") -> Any:
    """Return the tensors of all ranks, joined along a dimension."""
    given = _group(group)
    result = _AllGather.apply(tensor if tensor.ndim else tensor.reshape(1), given)
    return cat(result.chunk(given.size()), gather_dim) if gather_dim else result


def reduce_scatter_tensor(tensor: Any, reduceOp: Any, scatter_dim: int, group: Any = None, tag: str = "") -> Any:  # noqa: N803
    """Return this rank's part, along a dimension, of the tensors of all ranks combined.

    Raises:
        ValueError: the dimension is no multiple of the number of ranks.
    """
    given = _group(group)
    if tensor.shape[scatter_dim] % given.size():
        raise ValueError(
            f"input dimension {scatter_dim} ({tensor.shape[scatter_dim]}) must be a multiple of group_size"
        )
    if scatter_dim:
        tensor = cat(tensor.chunk(given.size(), scatter_dim))
    return _ReduceScatter.apply(tensor, _kind(reduceOp), given)


def all_to_all_single(
    tensor: Any,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any = None,
    tag: str = "",
) -> Any:
    """Return the parts that the ranks send this one, of which each sends a part of its tensor to each."""
    return _AllToAll.apply(tensor, output_split_sizes, input_split_sizes, _group(group))


def permute_tensor(tensor: Any, src_dst: Sequence[int], group: Any = None, tag: str = "") -> Any:
    """Return the tensor of the rank that sends its own to this one: rank `k` sends to rank `src_dst[k]`."""
    given = _group(group)
    size, rank = given.size(), given.rank()
    count = tensor.shape[0] if tensor.ndim else 1
    flat = tensor if tensor.ndim else tensor.reshape(1)
    sent = [count if each == src_dst[rank] else 0 for each in range(size)]
    received = [count if src_dst[each] == rank else 0 for each in range(size)]
    return all_to_all_single(flat, received, sent, given).reshape(tensor.shape)


all_gather_tensor_autograd = all_gather_single_autograd = all_gather_tensor
reduce_scatter_tensor_autograd = reduce_scatter_single_autograd = reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single
