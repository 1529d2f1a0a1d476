"""`fully_shard`: parameters of a module divided among processes, which have all of them only while it computes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from ..._names.refusals import refused_class
from ...nn import Module, ModuleDict, ModuleList, Parameter
from ..device_mesh import DeviceMesh, init_device_mesh
from ..initialization import get_world_size, init_process_group, is_initialized
from ..tensor.placement_types import Shard
from ._module import FSDPModule, sharded_class
from ._parameters import Layout, Owner, ShardedParameter
from ._policies import MixedPrecisionPolicy, OffloadPolicy
from ._state import State, state_of
from ._unit import Unit

__all__ = ["DataParallelMeshDims", "fully_shard"]

DataParallelMeshDims = refused_class(
    __name__, "DataParallelMeshDims", "meshes of other kinds of parallelism have no part in it. Use a mesh of its own"
)
_POLICY, _OFFLOAD = MixedPrecisionPolicy(), OffloadPolicy()


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[Parameter], Shard | None] | None = None,
    mp_policy: MixedPrecisionPolicy = _POLICY,
    offload_policy: OffloadPolicy = _OFFLOAD,
    ignored_params: Collection[Parameter] | None = None,
    dp_mesh_dims: Any = None,
) -> Any:
    """Divide the parameters of a module among processes, in place, and return it.

    Parameters, their gradients and so the states of optimizers are DTensors. A call of the module gathers those that no
    module in it has gathered for itself, by one call, and releases their memory afterwards; a backward pass gathers
    them again. Gradients are averaged, each process gets those of its shards. So layers are sharded first, then the
    module that has them, and the optimizer is made of the parameters afterwards.

    Args:
        module (Module or list of Module): the module; several are gathered together.
        mesh (DeviceMesh): the processes; None: all. With two dimensions the second one shards and the first one has
            copies of the shards.
        reshard_after_forward (bool): whether the memory is released between forward and backward pass; None: not that
            of the root, which is the module that is called. A number of processes is taken as True: the memory is
            released, and gathered from all.
        shard_placement_fn (callable): returns the Shard of a parameter; None, or a result None: `Shard(0)`.
        mp_policy (MixedPrecisionPolicy): the dtypes of computation and of reductions.
        offload_policy (OffloadPolicy): without effect, as shards are on the CPU.
        ignored_params (set of Parameter): parameters that each process keeps for itself.
        dp_mesh_dims: None.

    Raises:
        AssertionError: the module is sharded already, or dimensions of the mesh have no names.
        ValueError: the module has no `forward`, the mesh more than two dimensions; a parameter is a scalar or no leaf,
            or another sharded module has it; `reshard_after_forward` does not divide the number of processes.
        NotImplementedError: a parameter is a DTensor, not contiguous, or cannot be divided evenly along another
            dimension than the first.
    """
    if dp_mesh_dims is not None:
        raise NotImplementedError("dp_mesh_dims is not there: give fully_shard() a mesh of its own")
    modules = tuple(module) if isinstance(module, (list, tuple)) else (module,)
    for each in modules:
        _check_module(each)
    layout = _layout(_all_processes() if mesh is None else mesh)
    releases = _releases(reshard_after_forward, layout.shards.size())
    ignored = {id(each) for each in ignored_params or ()}
    by_dtype: dict[Any, list[ShardedParameter]] = {}
    for name, owners, parameter in _managed(modules, ignored):
        chosen = None if shard_placement_fn is None else shard_placement_fn(parameter)
        if chosen is not None and not isinstance(chosen, Shard):
            raise ValueError(f"Invalid shard_placement_fn result: {chosen}")
        sharded = ShardedParameter(name, owners, parameter, layout, chosen or Shard(0))
        by_dtype.setdefault(parameter.dtype, []).append(sharded)
    units = [Unit(parameters, layout, mp_policy) for parameters in by_dtype.values()]
    for unit in units:
        unit.reshards_after_forward = releases
    state = State(modules, units, mp_policy, reshard_after_forward is None)
    for each in modules:
        vars(each)["_fsdp_state"] = state
        each.__class__ = sharded_class(type(each))
    return module


def _check_module(module: Any) -> None:
    if isinstance(module, FSDPModule):
        raise AssertionError(
            "Each distinct composable distributed API can only be applied to a module once. fully_shard has already "
            f"been applied to the following module:\n{module}"
        )
    if isinstance(module, (ModuleList, ModuleDict)) and type(module).forward is Module.forward:
        raise ValueError(f"fully_shard does not support containers that do not implement forward: {module}")


def _all_processes() -> DeviceMesh:
    if not is_initialized():
        init_process_group()
    return init_device_mesh("cpu", (get_world_size(),))


def _layout(mesh: DeviceMesh) -> Layout:
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    if mesh.ndim == 1:
        return Layout(mesh, mesh.get_group(0), None)
    if mesh.mesh_dim_names is None:
        raise AssertionError("Please init the 2D mesh for HSDP with mesh_dim_names specified")
    return Layout(mesh, mesh.get_group(1), mesh.get_group(0))


def _releases(reshard_after_forward: bool | int | None, processes: int) -> bool:
    """Whether parameters are released after forward passes."""
    if reshard_after_forward is None or isinstance(reshard_after_forward, bool):
        return reshard_after_forward is not False
    if not isinstance(reshard_after_forward, int):
        raise ValueError(
            "reshard_after_forward should be a bool or an int representing the group size to reshard to, not "
            f"{reshard_after_forward}"
        )
    if reshard_after_forward < 1 or processes % reshard_after_forward:
        raise ValueError(
            f"If passing reshard_after_forward as an int, it should be a factor of {processes}, not "
            f"{reshard_after_forward}"
        )
    return reshard_after_forward > 1


def _managed(modules: Sequence[Module], ignored: set[int]) -> Iterator[tuple[str, list[Owner], Any]]:
    """The parameters of modules that no sharded module in them has: their names, and all modules that have them."""
    found: dict[int, tuple[str, list[Owner], Any]] = {}
    seen: set[Module] = set()

    def visit(module: Module, prefix: str) -> None:
        if module in seen or state_of(module) is not None:
            return
        seen.add(module)
        for name, parameter in module._parameters.items():
            if parameter is not None and id(parameter) not in ignored:
                found.setdefault(id(parameter), (prefix + name, [], parameter))[1].append(Owner(module, name))
        for name, child in module.named_children():
            visit(child, f"{prefix}{name}.")

    for module in modules:
        visit(module, "")
    return iter(found.values())
