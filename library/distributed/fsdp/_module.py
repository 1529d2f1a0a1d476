"""The class of sharded modules: their calls, and the methods that gather parameters and change settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, NoReturn

from ...nn import Module
from ._state import State, state_of
from ._unit import Unit

__all__ = ["FSDPModule", "UnshardHandle", "register_fsdp_forward_method", "sharded_class", "share_comm_ctx"]

_ONE_WAY = "parameters are gathered and gradients reduced in one way. Leave it out"
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


def sharded_class(own: type) -> type:
    """Return the class of sharded modules of a class."""
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
