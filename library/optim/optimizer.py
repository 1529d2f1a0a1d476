"""Class Optimizer: groups of parameters with their options, the state of each parameter, hooks, state_dict."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from .._autograd.node import RemovableHandle
from .._tensor.tensor import Tensor
from .parameter_groups import Group, check_among, parameters_of
from .state_dict import packed, unpacked
from .writing import *  # noqa: F403

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Parameters: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
"""Tensors, tensors with names, or groups of them with options of their own."""
ParamsT: TypeAlias = Parameters
_params_t: TypeAlias = Parameters
StateDict: TypeAlias = dict[str, Any]

Hook = Callable[..., Any]
_Step = TypeVar("_Step", bound=Callable[..., Any])

_HOOKS = ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")


class Optimizer:
    """Base of all optimizers.

    Args:
        params: tensors, (name, tensor) pairs, or dicts with the key "params" and options that differ from `defaults`.
        defaults: options of groups that do not say otherwise.

    Raises:
        TypeError: `params` is a tensor, or holds something else than tensors.
        ValueError: `params` is empty, holds a tensor that has been computed from others, or one in two groups.
    """

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}"
            )
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        for event in _HOOKS:
            _hooks_of(self, event)
        self._opt_called = False
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_opt_called", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for index, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {index}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once, by their gradients, in place.

        `closure` computes the loss and the gradients anew and returns the loss, which `step` returns; None without it.
        Raises NotImplementedError in this base class.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or with `set_to_none=False` to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif (grad := parameter.grad) is not None:
                    if grad.requires_grad:
                        grad.detach_()
                    grad.zero_()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own: a dict with the key "params".

        Raises TypeError for what is no tensor, ValueError for parameters that cannot be optimized or that another
        group has.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        is_recorded = bool(self.defaults.get("differentiable"))
        param_group.update(parameters_of(param_group["params"], may_be_computed=is_recorded))
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        check_among(param_group, self.param_groups)
        self._ow_check_options(param_group)
        self.param_groups.append(param_group)

    def _ow_check_options(self, group: Group) -> None:
        """Raises an error for options that cannot be had."""

    # ---- state_dict ----

    def _ow_saved(self) -> defaultdict[Any, dict[str, Any]]:
        """The state as files have it."""
        return self.state

    def state_dict(self) -> dict[str, Any]:
        """The state and the options, with numbers in place of the parameters; tensors in it are those in use."""
        for hook in _hooks_of(self, "state_dict_pre").values():
            hook(self)
        state = packed(self._ow_saved(), self.param_groups)
        for hook in _hooks_of(self, "state_dict_post").values():
            changed = hook(self, state)
            state = state if changed is None else changed
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from where `state_dict()` was called. Tensors are copied, in the dtypes of the parameters.

        Raises ValueError when the groups there are not as many or not as long as those here.
        """
        state_dict = dict(state_dict)
        for hook in _hooks_of(self, "load_state_dict_pre").values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        state, groups = unpacked(state_dict, self.param_groups)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in _hooks_of(self, "load_state_dict_post").values():
            hook(self)

    # ---- hooks ----

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` before each step; it may return other `(args, kwargs)`."""
        return self._ow_register("step_pre", hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return self._ow_register("step_post", hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer)` before `state_dict()`; before all other hooks when `prepend`."""
        return self._ow_register("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` after `state_dict()`; it may return another dict."""
        return self._ow_register("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` before a dict is loaded; it may return another one."""
        return self._ow_register("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer)` after a dict was loaded."""
        return self._ow_register("load_state_dict_post", hook, prepend)

    def _ow_register(self, event: str, hook: Hook, prepend: bool = False) -> RemovableHandle:
        hooks = _hooks_of(self, event)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle


_of_all: dict[str, OrderedDict[int, Hook]] = {"step_pre": OrderedDict(), "step_post": OrderedDict()}
"""Hooks of every optimizer."""


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of any optimizer; it may return other `(args, kwargs)`."""
    return RemovableHandle(_of_all["step_pre"], hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of any optimizer."""
    return RemovableHandle(_of_all["step_post"], hook)


def _hooks_of(optimizer: Optimizer, event: str) -> OrderedDict[int, Hook]:
    """The hooks of an event, in the attribute that torch has for them: optimizers around others may lack it."""
    hooks: OrderedDict[int, Hook] = vars(optimizer).setdefault(f"_optimizer_{event}_hooks", OrderedDict())
    return hooks


def _with_hooks(step: _Step) -> _Step:
    """`step` with the hooks before and after it, unless it is called by that of a subclass, which calls them."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if type(self).step is not hooked:
            return step(self, *args, **kwargs)
        self._opt_called = True  # schedules ask for it
        before = (*_of_all["step_pre"].values(), *_hooks_of(self, "step_pre").values())
        after = (*_hooks_of(self, "step_post").values(), *_of_all["step_post"].values())
        if not before and not after:
            return step(self, *args, **kwargs)
        given: tuple[Any, ...] = (self, *args)
        for hook in before:
            changed = hook(self, given, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            given, kwargs = changed
        result = step(*given, **kwargs)
        for hook in after:
            hook(self, given, kwargs)
        return result

    return hooked  # type: ignore[return-value]
