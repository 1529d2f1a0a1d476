"""Collectives of several tensors at once: their elements are sent as those of a single one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import cat, empty
from .._autograd.grad_mode import no_grad
from .._base.tensor_class import Tensor
from ..futures import Future
from .checks import check_dtypes, check_tensors, warn_outside
from .collectives import all_gather_into_tensor, all_reduce
from .process_group import ProcessGroup, given_group, is_outside
from .reduce_op import ReduceOp

__all__ = ["all_gather_coalesced", "all_reduce_coalesced"]


def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Future[Any] | None:
    """Combine tensors of all ranks by `op`, one by one, and give each rank the results, in place.

    Args:
        tensors (list of Tensor): of one dtype, and of the same shapes on all ranks; or a single one.
        op (ReduceOp): SUM by default.
        async_op (bool): return a future of the tensors, which is waited for later.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    given = [tensors] if isinstance(tensors, Tensor) else tensors
    check_tensors(given, "tensor")
    check_dtypes(given)
    if is_outside(group):
        warn_outside("all_reduce_coalesced")
        return None
    joined = _joined(given)
    work = all_reduce(joined, op, group, async_op=True)
    return _finished(work, given, lambda: _put(given, joined), async_op)


def all_gather_coalesced(
    output_tensor_lists: list[list[Any]],
    input_tensor_list: Sequence[Any],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Future[Any] | None:
    """Give all ranks the tensors of all: `output_tensor_lists` has a list for each, like `input_tensor_list`.

    Args:
        output_tensor_lists (list of list of Tensor): where the tensors of each rank are written.
        input_tensor_list (list of Tensor): those of this rank, of one dtype, and of the same shapes on all ranks.
        async_op (bool): return a future of the lists, which is waited for later.

    Raises:
        TypeError: the lists are none.
        ValueError: there are not as many as ranks, or tensors in them have other numbers of elements.
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    check_tensors(input_tensor_list, "input_tensor_list")
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for each in output_tensor_lists:
        check_tensors(each, "output_tensor_lists")
    check_dtypes(input_tensor_list, *output_tensor_lists)
    if is_outside(group):
        warn_outside("all_gather_coalesced")
        return None
    size = given_group(group).size()
    sizes = [each.numel() for each in input_tensor_list]
    if len(output_tensor_lists) != size or any([t.numel() for t in each] != sizes for each in output_tensor_lists):
        raise ValueError(
            f"all_gather_coalesced: output_tensor_lists must be {size} lists of tensors of {sizes} elements, as "
            "those of input_tensor_list"
        )
    joined = _joined(input_tensor_list)
    received = empty(size, joined.numel(), dtype=joined.dtype)

    def finish() -> None:
        for tensors, elements in zip(output_tensor_lists, received.unbind(0), strict=True):
            _put(tensors, elements)

    work = all_gather_into_tensor(received, joined, group, async_op=True)
    return _finished(work, output_tensor_lists, finish, async_op)


def _joined(tensors: Sequence[Any]) -> Any:
    return cat([each.detach().reshape(-1) for each in tensors])


def _put(tensors: Sequence[Any], elements: Any) -> None:
    """Give tensors the elements that stand one after the other."""
    with no_grad():
        for tensor, part in zip(tensors, elements.split([each.numel() for each in tensors]), strict=True):
            tensor.copy_(part.view(tensor.shape))


def _finished(work: Any, result: Any, finish: Callable[[], None], async_op: bool) -> Future[Any] | None:
    """Do what remains after a call; a future of the result if it is not waited for."""
    if not async_op:
        work.wait()
        finish()
        return None

    def then(_: Future[Any]) -> Any:
        finish()
        return result

    future: Future[Any] = work.get_future().then(then)
    return future
