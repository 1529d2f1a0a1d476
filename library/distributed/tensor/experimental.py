"""The namespace `opweave.distributed.tensor.experimental`: tensors of one process in calls with distributed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from ..._base.pytree import flatten
from ..._base.tensor_class import Tensor
from ..._names.refusals import refused_function
from ..device_mesh import DeviceMesh
from ._handler import implicit
from ._parts import is_distributed
from ._tensor import DTensor
from .placement_types import Placement

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]

context_parallel = refused_function(
    __name__, "context_parallel", "attention over sharded sequences gathers them. Call it without this context"
)
register_sharding = refused_function(
    __name__,
    "register_sharding",
    "rules of sharding follow from the entry of an operator. Give it `rule:` in its entry, or use local_map()",
)


@contextmanager
def implicit_replication() -> Iterator[None]:
    """A context in which tensors that are not distributed count as replicated in calls with distributed ones."""
    before, implicit.replicates = implicit.replicates, True
    try:
        yield
    finally:
        implicit.replicates = before


def local_map(
    func: Callable[..., Any],
    out_placements: Sequence[Any] | None,
    in_placements: Sequence[Sequence[Placement] | None] | None = None,
    in_grad_placements: Sequence[Sequence[Placement] | None] | None = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Any]:
    """Return a function of distributed tensors that calls `func` with the parts of this process.

    Args:
        func (callable): a function of tensors.
        out_placements (sequence): the placements of its result, or of each of several; None for what is no tensor.
        in_placements (tuple): those that each positional argument must have; None for what is no tensor.
        in_grad_placements (tuple): those that the gradients of the parts have.
        device_mesh (DeviceMesh): the processes; None: those of the arguments.
        redistribute_inputs (bool): whether arguments at other placements are brought to these.

    Raises:
        ValueError: an argument is at other placements; results are not as many as their placements.
    """

    @wraps(func)
    def function(*args: Any, **kwargs: Any) -> Any:
        mesh = device_mesh
        local = []
        for place, value in enumerate(args):
            if not is_distributed(value):
                local.append(value)
                continue
            mesh = mesh or value.device_mesh
            wanted = None if in_placements is None else in_placements[place]
            if wanted is not None and tuple(wanted) != value.placements:
                if not redistribute_inputs:
                    raise ValueError(
                        f"arg {value} in local_map has a mismatched placements: arg placements is {value.placements} "
                        f"but the input placements is {tuple(wanted)}! If redistribute_inputs is wanted, set "
                        "redistribute_inputs=True to local_map."
                    )
                value = value.redistribute(placements=wanted)
            local.append(value.to_local(grad_placements=in_grad_placements and in_grad_placements[place]))
        result = func(*local, **kwargs)
        if mesh is None:
            return result
        leaves, structure = flatten(result)
        single = len(leaves) == 1 and (not out_placements or isinstance(out_placements[0], Placement))
        each = [out_placements] if single else list(out_placements or ())
        if len(each) != len(leaves):
            raise ValueError(f"local_map requires one PlacementType be provided for each output value, got {len(each)} "
                             f"out_placements but {len(leaves)} is expected!")  # fmt: skip
        return structure.unflatten(
            DTensor.from_local(leaf, mesh, own) if isinstance(leaf, Tensor) and own is not None else leaf
            for leaf, own in zip(leaves, each, strict=True)
        )

    return function
