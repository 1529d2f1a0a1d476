"""opweave.nn.utils.parametrize: parameters that are computed from others whenever they are read."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..._autograd.grad_mode import no_grad
from ..._base.tensor_class import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_depth = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A block in which each parametrized tensor is computed once."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


def _registered(module: Any, name: str, original: Any) -> None:
    if isinstance(original, Parameter):
        module.register_parameter(name, original)
    else:
        module.register_buffer(name, original)


def _share(kept: Any, values: Any) -> None:
    """Gives `kept`, which optimizers may know, the elements of `values`."""
    if type(kept) is Tensor or isinstance(kept, Parameter):
        kept.data = values.data if hasattr(values, "data") else values


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what it is computed from: `original`, or `original0`, `original1` and so
    on where the last of them has several.
    """

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach().clone()
        value: Any = original
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        value = module.right_inverse(value)
        tensor: Any = value
        if not isinstance(value, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(value).__name__}"
            )
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        if self.is_tensor:
            if original.dtype is not tensor.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {tensor.dtype}"
                )
            with no_grad():
                _share(original, value)
            _registered(self, "original", original)
        else:
            for place, part in enumerate(value):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {place} of the sequence with type {type(part).__name__}."
                    )
                made = part
                if isinstance(original, Parameter):
                    made = Parameter(part, original.requires_grad)
                _registered(self, f"original{place}", made)
        if not unsafe:
            self._check(before)

    def _check(self, before: Any) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what in ("dtype", "shape"):
            old, new = getattr(before, what), getattr(result, what)
            if old != new:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {old}\nparametrized {what}: {new}"
                )

    def _originals(self) -> list[Any]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{k}") for k in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Change what the tensor is computed from, so that it becomes `value`."""
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for kept, part in zip(self._originals(), [value] if self.is_tensor else value, strict=True):
                kept.set_(part) if kept.shape != part.shape else kept.copy_(part)

    def forward(self) -> Any:
        """Return the tensor."""
        first, *rest = self
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return whether a module has parametrizations, or one of the tensor of this name."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def _with_class(module: Any) -> None:
    """Gives the module a class of its own, to which properties are added."""
    base = module.__class__

    def default_deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        made = self.__new__(self.__class__)
        memo[id(self)] = made
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    def no_pickle(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See: state_dict() and "
            "load_state_dict()"
        )

    names: dict[str, Any] = {"__getstate__": no_pickle, "__module__": base.__module__}
    if not hasattr(base, "__deepcopy__"):
        names["__deepcopy__"] = default_deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), names)


def _add_property(module: Any, name: str) -> None:
    def read(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _depth:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(module.__class__, name, property(read, write))


def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """Register a module that computes a parameter or buffer whenever it is read.

    Args:
        module (Module): the module that has it.
        tensor_name (str): its name.
        parametrization (Module): is called with what the tensor is computed from, at first the tensor itself or what
            `parametrization.right_inverse(tensor)` returns.
        unsafe (bool): whether dtype and shape may change.

    Returns:
        The module.

    Raises:
        ValueError: there is no such tensor, or dtype or shape change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        chain.append(parametrization)
        if not unsafe:
            chain._check(chain._originals()[0] if chain.is_tensor else chain())
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        chain = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _with_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = chain
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Undo `register_parametrization`.

    Args:
        module (Module): the module.
        tensor_name (str): the name of the tensor.
        leave_parametrized (bool): whether the tensor is what was computed, and not what it was computed from.

    Returns:
        The module.

    Raises:
        ValueError: the tensor has no parametrization, or is computed from several, and `leave_parametrized` is false.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _registered(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """Return the class that a module had before it had parametrizations."""
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Give a module copies of the parametrizations of another one, and what its tensors are computed from.

    Raises:
        AssertionError: the other one has none.
    """
    if not is_parametrized(from_module):
        raise AssertionError("the module from which parametrizations are taken has none")
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        chain = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            _registered(to_module, name, copy.deepcopy(chain()))
        for parametrization in chain:
            register_parametrization(to_module, name, copy.deepcopy(parametrization))
        target = to_module.parametrizations[name]
        with no_grad():
            for kept, part in zip(target._originals(), chain._originals(), strict=True):
                _share(kept, part)
    return to_module
