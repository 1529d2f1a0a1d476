"""Parameters and buffers of a module on several ranks: whether they agree, and how they are made equal; tensors in what
modules take and return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from .. import cat
from .._autograd.grad_mode import no_grad
from .._base.tensor_class import Tensor
from .collectives import broadcast
from .objects import all_gather_object
from .process_group import ProcessGroup

__all__: list[str] = []


def _broadcast_coalesced(process_group: ProcessGroup, tensors: Sequence[Any], src: int = 0) -> None:
    """Copy the tensors of one rank of the group to those of all others; those of one dtype are sent together."""
    by_dtype: dict[Any, list[Any]] = {}
    for each in tensors:
        by_dtype.setdefault(each.dtype, []).append(each.detach())
    with no_grad():
        for same in by_dtype.values():
            joined = cat([each.reshape(-1) for each in same])
            broadcast(joined, group=process_group, group_src=src)
            if process_group.rank() != src:
                for each, part in zip(same, joined.split([each.numel() for each in same]), strict=True):
                    each.copy_(part.view(each.shape))


def _sync_module_states(
    module: Any,
    process_group: ProcessGroup,
    broadcast_bucket_size: int = 0,
    src: int = 0,
    params_and_buffers_to_ignore: Any = (),
    broadcast_buffers: bool = True,
) -> None:
    """Copy the parameters of one rank, and its buffers, to the modules of all others."""
    named = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
    _broadcast_coalesced(process_group, [each for name, each in named if name not in params_and_buffers_to_ignore], src)


def _verify_param_shape_across_processes(process_group: ProcessGroup, tensors: Sequence[Any]) -> None:
    """Raise RuntimeError unless the parameters of all ranks have the same number, shapes, strides and dtypes."""
    if process_group.size() == 1:
        return
    rank = process_group.rank()
    own = [(tuple(each.shape), tuple(each.stride()), str(each.dtype)) for each in tensors]
    every: list[Any] = [None] * process_group.size()
    all_gather_object(every, own, process_group)
    for other, described in enumerate(every):
        if len(described) != len(own):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {rank} has {len(own)} params, while rank {other} "
                f"has inconsistent {len(described)} params."
            )
        for index, (mine, theirs) in enumerate(zip(own, described, strict=True)):
            for what, ours, other_one in zip(("sizes", "strides", "dtype"), mine, theirs, strict=True):
                if ours != other_one:
                    raise RuntimeError(
                        f"[{rank}]: params[{index}] in this process with {what} {_text(ours)} appears not to match "
                        f"{what} of the same param in process {other}."
                    )


def _text(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else value


def _tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in what a module takes or returns."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _tensors_in(getattr(value, field.name))
