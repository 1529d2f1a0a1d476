"""Modules whose parameters get their shapes by the first input."""

from __future__ import annotations

from typing import Any

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Mixed into a module, before it: `initialize_parameters(*args)` is called with the arguments of the first call,
    and gives the parameters their shapes. The module is of the class `cls_to_become` afterwards.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._load_hook = module._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = module.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        module: Any = self
        for name, each in module._ow_persistent().items():
            destination[prefix + name] = each if is_lazy(each) or keep_vars else each.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Gives parameters the shapes that they have in a state, before it is taken."""
        module: Any = self
        for name, each in module._ow_persistent().items():
            key = prefix + name
            if is_lazy(each) and key in state_dict and not is_lazy(state_dict[key]):
                each.materialize(state_dict[key].shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes: to be defined by derived classes."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {self.__class__.__name__}")

    def has_uninitialized_params(self) -> bool:
        """Return whether parameters or buffers of the module have no shape yet."""
        module: Any = self
        return any(is_lazy(each) for each in (*module._parameters.values(), *module._buffers.values()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """The hook before the first call."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self.__class__.__name__} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
