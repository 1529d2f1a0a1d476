"""`fully_shard`: parameters of a module divided among processes, which have all of them only while it computes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import wraps
from typing import Any, NoReturn

from ..._names.refusals import refused_class
from ...nn import Module, ModuleDict, ModuleList, Parameter
from ..device_mesh import DeviceMesh, init_device_mesh
from ..initialization import get_world_size, init_process_group, is_initialized
from ..tensor.placement_types import Shard
from ._parameters import Layout, Owner, ShardedParameter
from ._policies import MixedPrecisionPolicy, OffloadPolicy
from ._state import State, state_of
from ._unit import Unit

__all__ = [
    "DataParallelMeshDims",
    "FSDPModule",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
    "share_comm_ctx",
]

DataParallelMeshDims = refused_class(
    __name__, "DataParallelMeshDims", "meshes of other kinds of parallelism have no part in it. Use a mesh of its own"
)
_ONE_WAY = "parameters are gathered and gradients reduced in one way. Leave it out"
_POLICY, _OFFLOAD = MixedPrecisionPolicy(), OffloadPolicy()
_classes: dict[type, type] = {}


class UnshardHandle:
    """The parameters of a module on their way, of `unshard(async_op=True)`."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units

    def wait(self) -> None:
        """Wait until the module has whole parameters."""
        for unit in self._units:
            unit.unshard()


class FSDPModule(Module):
    """The class of modules that `fully_shard` has sharded, beside their own one."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a module of the class that was sharded: parts of containers are not sharded by this call."""
        own: Any = cls.__mro__[2]
        module = own.__new__(own)
        module.__init__(*args, **kwargs)
        return module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the module computes with whole parameters."""
        return self._fsdp_state.call(self, super().__call__, args, kwargs)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise AssertionError("FSDP does not support deepcopy. Please use state dict for serialization.")

    def _states(self, recurse: bool = True) -> Iterator[State]:
        """The states of this module, and of those in it."""
        for module in self.modules() if recurse else (self,):
            state = state_of(module)
            if state is not None:
                yield state

    def _set(self, recurse: bool, **values: Any) -> None:
        """Set attributes of the units."""
        for state in self._states(recurse):
            for unit in state.units:
                for name, value in values.items():
                    setattr(unit, name, value)

    # ---- elements ----

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Gather the parameters, those of modules that were sharded in it excepted.

        Args:
            async_op (bool): return a handle that is waited for later; the next call of the module does so, too.
        """
        units = self._fsdp_state.units
        for unit in units:
            unit.begin_unshard()
        handle = UnshardHandle(units)
        if async_op:
            return handle
        handle.wait()
        return None

    def reshard(self) -> None:
        """Release the memory of whole parameters, those of modules that were sharded in it excepted."""
        for unit in self._fsdp_state.units:
            unit.reshard()

    def reset_iter_state(self) -> None:
        """Forget gradients that are not reduced yet, and release whole parameters, after a pass that has failed.

        Raises:
            RuntimeError: the module is not the root.
        """
        if self._fsdp_state.is_root is False:
            raise RuntimeError("reset_iter_state must be called on the root FSDP module")
        self._fsdp_state.tree.reset()

    # ---- settings ----

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Set whether the next backward pass waits for gradients that are on their way."""
        self._fsdp_state.tree.is_last_backward = is_last_backward

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Set whether gradients are reduced. Until they are, each process adds up its own, of whole parameters."""
        self._set(recurse, reduces=requires_gradient_sync, reduces_replicas=requires_gradient_sync)

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Set whether gradients are reduced over processes with the same shards, in a mesh of two dimensions."""
        self._set(recurse, reduces_replicas=requires_all_reduce)

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Set whether the memory of whole parameters is released after forward passes.

        Raises:
            ValueError: it is no bool.
        """
        if not isinstance(reshard_after_forward, bool):
            raise ValueError(f"reshard_after_forward should be a bool, got {type(reshard_after_forward)}")
        self._set(recurse, reshards_after_forward=reshard_after_forward)
        for state in self._states(recurse):
            state.is_automatic = False

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        """Set whether the memory of whole parameters is released after backward passes."""
        self._set(recurse, reshards_after_backward=reshard_after_backward)

    def set_modules_to_forward_prefetch(self, modules: list[FSDPModule]) -> None:
        """Set the modules whose parameters are asked for when a forward pass comes to this one."""
        self._fsdp_state.prefetched_in_forward = _states_of(modules)

    def set_modules_to_backward_prefetch(self, modules: list[FSDPModule]) -> None:
        """Set the modules whose parameters are asked for when a backward pass comes to this one; without them it is
        the one that the forward pass has left before."""
        self._fsdp_state.prefetched_in_backward = _states_of(modules)

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Set what gradients are divided by, in place of the number of processes."""
        self._set(False, divisor=factor)

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Set whether parameters are gathered when a backward pass comes to the module, or where a gradient needs
        them."""
        self._set(False, unshards_in_backward=unshard_in_backward)

    def set_reduce_scatter_unused_params(self, reduce_scatter_unused_params: bool, *, recurse: bool = True) -> None:
        """Set whether parameters without a gradient take part with zeros, as processes may use different ones."""
        self._set(recurse, reduces_unused=reduce_scatter_unused_params)

    def set_reduce_scatter_max_input_buffers(self, max_input_buffers: int, *, recurse: bool = True) -> None:
        """Set the number of reductions that may be under way, whose memory is held.

        Raises:
            TypeError, ValueError: it is no positive int.
        """
        if isinstance(max_input_buffers, bool) or not isinstance(max_input_buffers, int):
            raise TypeError(f"max_input_buffers must be an int, got {type(max_input_buffers).__name__}")
        if max_input_buffers < 1:
            raise ValueError(f"max_input_buffers must be a positive int, got {max_input_buffers}")
        self._fsdp_state.tree.limit = max_input_buffers

    def set_force_sum_reduction_for_comms(self, enable: bool) -> None:
        """Do nothing: reductions are sums."""

    def set_post_optim_event(self, event: Any) -> None:
        """Do nothing: there are no streams to wait for."""

    def set_custom_all_gather(self, comm: Any) -> NoReturn:
        """Raise NotImplementedError: there is one way to gather."""
        raise NotImplementedError(f"set_custom_all_gather() does not exist: {_ONE_WAY}")

    def set_custom_reduce_scatter(self, comm: Any) -> NoReturn:
        """Raise NotImplementedError: there is one way to reduce."""
        raise NotImplementedError(f"set_custom_reduce_scatter() does not exist: {_ONE_WAY}")

    def set_all_reduce_hook(self, hook: Any, *, stream: Any = None) -> NoReturn:
        """Raise NotImplementedError: there is one way to reduce."""
        raise NotImplementedError(f"set_all_reduce_hook() does not exist: {_ONE_WAY}")

    # ---- what goes through all parameters ----

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        self.reshard()
        return super()._apply(fn, recurse)

    def _save_to_state_dict(self, *args: Any) -> None:
        self.reshard()
        super()._save_to_state_dict(*args)

    def _load_from_state_dict(self, *args: Any) -> None:
        self.reshard()
        super()._load_from_state_dict(*args)


def _states_of(modules: Sequence[Any]) -> list[State]:
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects FSDPModule but got {type(module)}: {module}")
    return [module._fsdp_state for module in modules]


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
        each.__class__ = _sharded_class(type(each))
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


def _sharded_class(own: type) -> type:
    """The class of sharded modules of a class."""
    if own not in _classes:
        _classes[own] = type(f"FSDP{own.__name__}", (FSDPModule, own), {"__module__": own.__module__})
    return _classes[own]


def register_fsdp_forward_method(module: Module, method_name: str) -> None:
    """Let a method of a sharded module compute with whole parameters, as a call does. Others stay as they are.

    Raises:
        ValueError: there is no such method.
    """
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method = getattr(module, method_name)

    @wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return module._fsdp_state.call(module, method, args, kwargs)

    setattr(module, method_name, wrapped)


def share_comm_ctx(modules: list[FSDPModule]) -> None:
    """Do nothing: there are no streams to share.

    Raises:
        ValueError: a module is not sharded.
    """
    _states_of(modules)
