"""`FullyShardedDataParallel`: the older interface of sharded modules, by way of `fully_shard`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._autograd.grad_mode import no_grad
from ...nn import Module
from ...nn.utils import clip_grad_norm_
from ..checkpoint.state_dict import StateDictOptions, as_part, get_optimizer_state_dict, loadable_optimizer_state
from ..device_mesh import DeviceMesh
from ..initialization import get_rank
from ..tensor._parts import is_distributed
from ..utils import _sync_module_states
from ._construction import KEEPING, materialize, mesh_of, policy_of
from ._fully_shard import fully_shard
from ._settings import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from ._state import State, state_of
from .wrap import wrap_parts

__all__ = ["FullyShardedDataParallel"]

_PART = "_fsdp_wrapped_module"
_CONFIGS = {
    StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
    StateDictType.SHARDED_STATE_DICT: (ShardedStateDictConfig, ShardedOptimStateDictConfig),
}


class FullyShardedDataParallel(Module):
    """A module whose parameters, gradients and states of optimizers are divided among processes.

    It is a shell around a module that `fully_shard` has sharded. Its parameters are DTensors, one for each of the
    module, as torch has them with `use_orig_params=True`.

    Args:
        module (Module): the module, which is sharded in place; it is the part `module` of this one.
        process_group (ProcessGroup): the processes; None: all.
        sharding_strategy (ShardingStrategy): FULL_SHARD by default.
        cpu_offload, backward_prefetch, device_id, forward_prefetch, limit_all_gathers, use_orig_params: without effect.
        auto_wrap_policy (callable): which parts are wrapped for themselves: see `opweave.distributed.fsdp.wrap`.
        mixed_precision (MixedPrecision): the dtypes of computation and of reductions.
        ignored_modules (iterable of Module): modules whose parameters each process keeps for itself.
        param_init_fn (callable): called with each module that has parameters on the device `meta`, to give them
            elements; None: `to_empty` and the module's `reset_parameters`.
        sync_module_states (bool): whether parameters and buffers are those of rank 0.
        ignored_states (iterable): further modules or parameters that are ignored.
        device_mesh (DeviceMesh): the processes; of two dimensions for HYBRID_SHARD, of which the second one shards.

    Raises:
        ValueError: both a group and a mesh are given, or a mesh that the strategy does not take.
    """

    def __init__(
        self,
        module: Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: Any = None,
        auto_wrap_policy: Any = None,
        backward_prefetch: Any = None,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[Module] | None = None,
        param_init_fn: Callable[[Module], None] | None = None,
        device_id: Any = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[Any] | None = None,
        device_mesh: DeviceMesh | None = None,
    ) -> None:
        super().__init__()
        strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        mesh = mesh_of(strategy, process_group, device_mesh)
        ignored = [*(ignored_modules or ()), *(ignored_states or ())]
        modules = {each for own in ignored if isinstance(own, Module) for each in own.modules()}
        parameters = [each for each in ignored if not isinstance(each, Module)]
        parameters += [each for own in modules for each in own.parameters(recurse=False)]
        materialize(module, param_init_fn)
        if sync_module_states:
            for group in mesh.get_all_groups():
                _sync_module_states(module, group)
        if auto_wrap_policy is not None:
            options = {
                "sharding_strategy": strategy,
                "mixed_precision": mixed_precision,
                "ignored_states": ignored,
                "device_mesh": mesh,
            }
            wrap_parts(module, auto_wrap_policy, modules, type(self), options)
        fully_shard(
            module,
            mesh=mesh,
            reshard_after_forward=False if strategy in KEEPING else None,
            mp_policy=policy_of(module, mixed_precision or MixedPrecision()),
            ignored_params=parameters,
        )
        self._fsdp_wrapped_module: Any = module
        self.sharding_strategy, self.mixed_precision = strategy, mixed_precision
        self._settings = StateDictSettings()
        self._is_summoned = False

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self._fsdp_wrapped_module(*args, **kwargs)

    @property
    def module(self) -> Any:
        """The module."""
        return self._fsdp_wrapped_module

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_PART), name)

    def __getitem__(self, key: Any) -> Any:
        return self._fsdp_wrapped_module[key]

    def check_is_root(self) -> bool:
        """Return whether the module was called, and is not within another one that was."""
        return bool(self._fsdp_wrapped_module._fsdp_state.is_root)

    @staticmethod
    def fsdp_modules(module: Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """Return the wrapped modules in a module; `root_only`: those that are in no other one."""
        found = [each for each in module.modules() if isinstance(each, FullyShardedDataParallel)]
        below = {each for one in found for each in one.modules() if each is not one}
        return [each for each in found if not root_only or each not in below]

    # ---- whole parameters ----

    @staticmethod
    @contextmanager
    def summon_full_params(
        module: Module,
        recurse: bool = True,
        writeback: bool = True,
        rank0_only: bool = False,
        offload_to_cpu: bool = False,
        with_grads: bool = False,
    ) -> Iterator[None]:
        """A context in which modules have whole parameters, under their names without this wrapper.

        Args:
            module (Module): the module.
            recurse (bool): whether the modules in it have them, too.
            writeback (bool): whether what is written to them is kept; each process keeps its shard.
            rank0_only, offload_to_cpu: without effect.

        Raises:
            NotImplementedError: gradients are asked for.
        """
        if with_grads:
            raise NotImplementedError(
                "summon_full_params(with_grads=True) is not there: call full_tensor() of gradients"
            )
        wrapped = [module] if not recurse else module.modules()
        found = [each for each in wrapped if isinstance(each, FullyShardedDataParallel) and not each._is_summoned]
        units = [unit for each in found for unit in each._fsdp_wrapped_module._fsdp_state.units]
        for unit in units:
            unit.summon()
        for each in found:
            each._is_summoned = True
        try:
            yield
        finally:
            for each in found:
                each._is_summoned = False
            for unit in units:
                if writeback:
                    unit.write_back()
                unit.reshard()

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Yield the parameters, in `summon_full_params` under the names that they have without this wrapper."""
        for name, each in super().named_parameters(*args, **kwargs):
            yield name.replace(f"{_PART}.", "") if self._is_summoned else name, each

    def named_buffers(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Yield the buffers, in `summon_full_params` under the names that they have without this wrapper."""
        for name, each in super().named_buffers(*args, **kwargs):
            yield name.replace(f"{_PART}.", "") if self._is_summoned else name, each

    def apply(self, fn: Callable[[Module], None]) -> FullyShardedDataParallel:
        """Call a function with each module while it has whole parameters, as to initialize them."""
        with self.summon_full_params(self):
            super().apply(fn)
        return self

    # ---- gradients ----

    def _states(self) -> list[State]:
        return [state for each in self.modules() if (state := state_of(each)) is not None]

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients are added up on each process, and not reduced."""
        before = [(unit, unit.reduces) for state in self._states() for unit in state.units]
        for unit, _ in before:
            unit.reduces = False
        try:
            yield
        finally:
            for unit, reduces in before:
                unit.reduces = reduces

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Any:
        """Scale the gradients of all parameters down to a norm, and return the norm that they had."""
        norm = clip_grad_norm_(self.parameters(), max_norm, norm_type)
        return norm.full_tensor() if is_distributed(norm) else norm

    # ---- states ----

    @staticmethod
    def set_state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:
        """Set the form of state dicts of all wrapped modules in a module, and return the one before.

        Raises:
            NotImplementedError: it is LOCAL_STATE_DICT.
            RuntimeError: options are those of another form.
        """
        if state_dict_type not in _CONFIGS:
            raise NotImplementedError(f"there are no flat parameters for {state_dict_type}. Use SHARDED_STATE_DICT")
        chosen: list[Any] = []
        given = (state_dict_config, optim_state_dict_config)
        for kind, config in zip(_CONFIGS[state_dict_type], given, strict=True):
            if config is not None and not isinstance(config, kind):
                raise RuntimeError(f"Expected state_dict_config of type {kind} but got {type(config)}")
            chosen.append(config or kind())
        before = FullyShardedDataParallel.get_state_dict_type(module)
        for each in FullyShardedDataParallel.fsdp_modules(module):
            each._settings = StateDictSettings(state_dict_type, *chosen)
        return before

    @staticmethod
    def get_state_dict_type(module: Module) -> StateDictSettings:
        """Return the form of state dicts of the wrapped modules in a module."""
        found = FullyShardedDataParallel.fsdp_modules(module)
        return found[0]._settings if found else StateDictSettings()

    @staticmethod
    @contextmanager
    def state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Iterator[None]:
        """A context with another form of state dicts: see `set_state_dict_type`."""
        own = FullyShardedDataParallel
        before = own.set_state_dict_type(module, state_dict_type, state_dict_config, optim_state_dict_config)
        try:
            yield
        finally:
            for each in own.fsdp_modules(module):
                each._settings = before

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Return the state of the module, with the names that it has without this wrapper, in the form that was set."""
        result = self._fsdp_wrapped_module.state_dict(
            *args, destination=destination, prefix=prefix, keep_vars=keep_vars
        )
        config = self._settings.state_dict_config
        if not isinstance(config, FullStateDictConfig):
            return result
        with no_grad():
            for key in [key for key in result if key.startswith(prefix)]:
                if is_distributed(result[key]):
                    result[key] = result[key].full_tensor()
                if config.rank0_only and get_rank():
                    del result[key]
        return result

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Takes whole tensors and DTensors, with the names of parameters without this wrapper."""
        self._fsdp_wrapped_module.reshard()
        own = {
            f"{prefix}{name}": each
            for name, each in self._fsdp_wrapped_module.named_parameters(remove_duplicate=False)
            if _PART not in name
        }
        for key in [key for key in state_dict if key.startswith(prefix)]:
            value = as_part(state_dict.pop(key), own.get(key))
            state_dict[f"{prefix}{_PART}.{key[len(prefix) :]}"] = value
        super()._load_from_state_dict(state_dict, prefix, *args)

    @staticmethod
    def optim_state_dict(model: Module, optim: Any, optim_state_dict: Any = None, group: Any = None) -> Any:
        """Return the state of an optimizer, by the names of parameters, in the form that was set.

        Raises:
            NotImplementedError: a state is given, in place of that of the optimizer.
        """
        if optim_state_dict is not None:
            raise NotImplementedError("optim_state_dict() of a given state is not there: load it into the optimizer")
        config = FullyShardedDataParallel.get_state_dict_type(model).optim_state_dict_config
        state = get_optimizer_state_dict(model, optim, options=_options(config))
        return {} if getattr(config, "rank0_only", False) and get_rank() else state

    @staticmethod
    def optim_state_dict_to_load(
        model: Module, optim: Any, optim_state_dict: Any, is_named_optimizer: bool = False,
        load_directly: bool = False, group: Any = None,
    ) -> Any:  # fmt: skip
        """Return what `optim.load_state_dict` takes, of a state that `optim_state_dict` has returned; all processes
        have it. `load_directly`: load it as well."""
        config = FullyShardedDataParallel.get_state_dict_type(model).optim_state_dict_config
        state = loadable_optimizer_state(model, optim, optim_state_dict, _options(config))
        if load_directly:
            optim.load_state_dict(state)
        return state


def _options(config: OptimStateDictConfig) -> StateDictOptions:
    return StateDictOptions(full_state_dict=isinstance(config, FullOptimStateDictConfig))
