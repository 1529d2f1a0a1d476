"""The state of a module as a dictionary of tensors, and back."""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ..._autograd.grad_mode import no_grad
from ..._autograd.node import RemovableHandle
from ..._base.devices import has_values
from ..._base.tensor_class import Tensor
from ..._base.warn import warn
from ..parameter import Parameter, is_lazy

__all__ = ["State"]

_EXTRA = _EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of `load_state_dict`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class _BoundHook:
    """A hook that is called with the module, which it does not keep alive."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module(), *args)

    def __getstate__(self) -> dict[str, Any]:
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.module = state["hook"], weakref.ref(state["module"])


class State:
    """Mixed into Module: `state_dict`, `load_state_dict` and their hooks."""

    _version = 1
    """The form of the state, which is saved with it."""
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """Return what is part of the state besides tensors. To be defined by classes that have such, with
        `set_extra_state`.
        """
        raise RuntimeError("get_extra_state() is called, but the class does not define it. Define it, or leave it out.")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` returned."""
        raise RuntimeError("set_extra_state() is called, but the class does not define it. Define it as well.")

    # ---- hooks ----

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, metadata)`, which may return another dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return RemovableHandle(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, metadata)` after `state_dict`, which it may change in place."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return RemovableHandle(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Any:
        return RemovableHandle(self._load_state_dict_pre_hooks, _BoundHook(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before the module takes its part of a state.
        """
        handle: RemovableHandle = self._register_load_state_dict_pre_hook(hook, with_module=True)
        return handle

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after the module has taken its state. It may change the lists
        `missing_keys` and `unexpected_keys` in place.
        """
        return RemovableHandle(self._load_state_dict_post_hooks, hook)

    # ---- saving ----

    def _ow_persistent(self) -> dict[str, Any]:
        """The tensors of this module alone that are part of the state."""
        buffers = ((name, each) for name, each in self._buffers.items() if name not in self._non_persistent_buffers_set)
        return {name: each for name, each in (*self._parameters.items(), *buffers) if each is not None}

    def _ow_has_extra(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(State, method)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, each in self._ow_persistent().items():
            destination[prefix + name] = each if keep_vars else each.detach()
        if self._ow_has_extra("get_extra_state"):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Return parameters and buffers of the module and all its parts by their dotted names.

        The tensors share their memory with those of the module.

        Args:
            destination (dict): where they are added; None: a new OrderedDict.
            prefix (str): what the names begin with.
            keep_vars (bool): whether to return the parameters themselves, instead of tensors without history.
        """
        if args:  # an older order of arguments
            warn("Positional args are being deprecated, use kwargs instead.", FutureWarning)
            named: list[Any] = [destination, prefix, keep_vars]
            destination, prefix, keep_vars = [*args, *named[len(args) :]]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            other = hook(self, destination, prefix, metadata)
            if other is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = other
        return destination

    # ---- loading ----

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take this module's own part of a state. Classes whose state has changed its form take older ones here."""
        given = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        for hook in self._load_state_dict_pre_hooks.values():
            hook(*given)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = self._ow_persistent()
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                problem = self._ow_taken(name, key, tensor, state_dict[key], assign)
                if problem:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if self._ow_has_extra("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, _, below = key[len(prefix) :].partition(".")
                    if name not in (self._modules if below else own):
                        unexpected_keys.append(key)

    def _ow_taken(self, name: str, key: str, tensor: Any, value: Any, assign: bool) -> str:
        """Takes one tensor. Returns why it could not."""
        if not (isinstance(value, Tensor) or hasattr(value, "__torch_function__")):
            return (
                f'While copying the parameter named "{key}", expected opweave.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        if not is_lazy(tensor):
            if not tensor.ndim and tuple(value.shape) == (1,):
                value = value[0]  # the form of numbers in states of early versions
            if value.shape != tensor.shape:
                return (
                    f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                    f"current model is {tensor.shape}."
                )
            if not has_values(tensor) and has_values(value) and not assign:
                warn(
                    f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
                    "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state "
                    "dictionary to their corresponding key in the module instead of copying them in place?)"
                )
        try:
            with no_grad():
                if not assign:
                    tensor.copy_(value)
                    return ""
                if isinstance(tensor, Parameter):
                    if isinstance(value, Parameter):
                        value.requires_grad_(tensor.requires_grad)
                    else:
                        value = Parameter(value, requires_grad=tensor.requires_grad)
                setattr(self, name, value)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and '
                f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )
        return ""

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Take the state that `state_dict` returned, of the same class of module.

        Args:
            state_dict (Mapping): tensors by their dotted names. They are copied into the module's.
            strict (bool): whether it is an error if names are missing, or are not the module's.
            assign (bool): whether the tensors become the module's, instead.

        Returns:
            The lists `missing_keys` and `unexpected_keys`, a named tuple.

        Raises:
            TypeError: it is no Mapping.
            RuntimeError: shapes differ, or, if `strict`, names.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        problems: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        whole: Any = OrderedDict(state_dict)
        if metadata is not None:
            whole._metadata = metadata
        _load(self, whole, "", metadata, assign, (missing, unexpected, problems))
        if strict:
            for kind, keys in (("Missing", missing), ("Unexpected", unexpected)):
                if keys:
                    listed = ", ".join(f'"{key}"' for key in keys)
                    problems.insert(kind == "Unexpected" and bool(missing), f"{kind} key(s) in state_dict: {listed}. ")
        if problems:
            listed = "\n\t".join(problems)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)


def _load(module: Any, state: Any, prefix: str, metadata: Any, assign: bool, reports: tuple[list[str], ...]) -> None:
    missing, unexpected, problems = reports
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, local, True, missing, unexpected, problems)
    for name, part in module._modules.items():
        if part is not None:
            below = f"{prefix}{name}."
            _load(part, {k: v for k, v in state.items() if k.startswith(below)}, below, metadata, assign, reports)
    keys = _IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )
