"""The members of a module: parameters, buffers and modules, by attributes and by dotted names."""

from __future__ import annotations

from typing import Any

from ..._base.tensor_class import Tensor
from ..._tensor.typed_tensors import typename
from ..parameter import Buffer, Parameter
from ._global_hooks import registered
from ._walks import Walks

__all__ = ["Members"]

_KINDS = ("_parameters", "_buffers", "_modules")


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


class Members(Walks):
    """Mixed into Module: its dictionaries, and attributes that stand for what lies in them."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    # ---- registering ----

    def _ow_check_name(self, kind: str, name: Any, owned: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in owned:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a buffer: a tensor that is part of the state, but no parameter.

        Args:
            name (str): the attribute under which it is found.
            tensor (Tensor or None): the buffer; None: there is none, and it is left out of the state.
            persistent (bool): whether it is part of `state_dict`.

        Raises:
            KeyError: the name is empty, has a dot, or is that of another attribute.
            TypeError: it is no tensor.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._ow_check_name("buffer", name, self._buffers)
        if tensor is not None and not _is_tensor(tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (opweave Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter.

        Args:
            name (str): the attribute under which it is found.
            param (Parameter or None): the parameter; None: there is none, and it is left out of the state.

        Raises:
            KeyError: the name is empty, has a dot, or is that of another attribute.
            TypeError: it is no Parameter.
            ValueError: it was computed from other tensors.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._ow_check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' "
                    "(opweave.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                    f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                    "forward() method."
                )
            param = registered("parameter", self, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Any) -> None:
        """Add a module as a part of this one.

        Args:
            name (str): the attribute under which it is found.
            module (Module or None): the part.

        Raises:
            KeyError: the name is empty, has a dot, or is that of another attribute.
            TypeError: it is no Module.
        """
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._ow_check_name("module", name, self._modules)
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    # ---- attributes ----

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in _KINDS:
            members = own.get(kind)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters, buffers, modules = (own.get(kind) for kind in _KINDS)
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._ow_forget(name, "_parameters")
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (opweave.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Members):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._ow_forget(name, "_modules")
            modules[name] = registered("module", self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (opweave.nn.Module or None expected)"
                )
            modules[name] = registered("module", self, name, value)
        elif isinstance(value, Buffer) or (buffers is not None and name in buffers):
            self._ow_set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _ow_set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not _is_tensor(value):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' "
                "(opweave.nn.Buffer, opweave.Tensor or None expected)"
            )
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if isinstance(value, Buffer):
            persistent = getattr(value, "persistent", True)
        else:
            persistent = name not in self._non_persistent_buffers_set
        # Calls of the method that a derived class may have in its place are part of the interface.
        if type(self).register_buffer is not Members.register_buffer:
            self._ow_forget(name, "_buffers")
            self.register_buffer(name, value, persistent)
            return
        self._ow_forget(name, "_buffers")
        self._buffers[name] = registered("buffer", self, name, value)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def _ow_forget(self, name: str, kept: str) -> None:
        """Takes what had the name away, so that it stands for one thing alone."""
        own = self.__dict__
        own.pop(name, None)
        for kind in _KINDS:
            if kind != kept and kind in own:
                own[kind].pop(name, None)
        if kept != "_buffers":
            own.get("_non_persistent_buffers_set", set()).discard(name)

    def __delattr__(self, name: str) -> None:
        for kind in _KINDS:
            if name in getattr(self, kind):
                del getattr(self, kind)[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *(name for kind in _KINDS for name in getattr(self, kind))]
        return sorted(name for name in names if not name[0].isdigit())

    # ---- by dotted names ----

    def get_submodule(self, target: str) -> Any:
        """Return the module of a dotted name, as `"encoder.layers.0"`; of the empty name this one.

        Raises:
            AttributeError: there is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name, Members, "Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module in the place of a dotted name.

        Args:
            target (str): the name.
            module (Module): what is put there.
            strict (bool): whether there must be one already.

        Raises:
            ValueError: the name is empty, or it is no module.
            AttributeError: what leads there is no module, or what is there.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            _attribute(parent, name, Members, "Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Any:
        """Return the parameter of a dotted name. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        return _attribute(self.get_submodule(path), name, Parameter, "Parameter")

    def get_buffer(self, target: str) -> Any:
        """Return the buffer of a dotted name. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = _attribute(module, name, object, "")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer


def _attribute(module: Any, name: str, kind: type, called: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    value = getattr(module, name)
    if not isinstance(value, kind):
        raise AttributeError(f"`{name}` is not an nn.{called}")
    return value
