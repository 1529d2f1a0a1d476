"""Modes of a thread that decide whether operations are recorded: context managers and decorators, as in torch.

The core looks at the dispatch keys of its inputs but for those that the thread excludes (core/tensor/tensor.h). Where
nothing is recorded the key of autograd is excluded, so that a tensor with a history costs what any other does. What was
before is restored by the core (core/python/modes.c), which Ctrl-C does not interrupt between the change and the block.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .._base.contexts import context_decorator
from .._base.keys import KEY_BITS
from .._base.lazy_imports import load
from .._base.type_names import wrong_type
from .._handle import ModeBase, SwitchBase, excluded

_PACKAGE_NAMES = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]

AUTOGRAD = KEY_BITS["autograd"]
UNRECORDED = AUTOGRAD | KEY_BITS["recording"]
"""Excluded where the user wants nothing recorded, which views that are taken note."""
CONFINED = KEY_BITS["confined"]
"""Excluded within a backward pass that leads to some inputs alone."""
_INFERENCE = KEY_BITS["inference"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Return whether operations of this thread are recorded."""
    return not excluded() & AUTOGRAD


class _Mode:
    """Enters and leaves a mode; as a decorator it does so around each call, and around each step of a generator."""

    def __call__(self, function: _Function) -> _Function:
        return self._decorated(function)

    def _decorated(self, function: _Function) -> _Function:
        return context_decorator(self.clone, function)  # type: ignore[return-value]

    def clone(self) -> Any:
        """Another one, which has not been entered."""
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError


class BitsMode(ModeBase, _Mode):
    """A mode that is a matter of some bits, which the core changes and restores."""

    def _change(self, keys: int, is_excluded: bool) -> None:
        """Set the dispatch keys that are excluded within, and those that are not."""
        self._cleared, self._set = (0, keys) if is_excluded else (keys, 0)

    def clone(self) -> Any:
        """Another one of the same changes, which it makes when it is entered."""
        clone: Any = ModeBase.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._cleared, clone._set, clone._word = self._cleared, self._set, self._word
        return clone


class _SignatureOfConfigure:
    """The signature of a switch, whose arguments `_configure` takes; made when it is asked for."""

    def __get__(self, _: object, cls: type[Switch]) -> Any:
        signature = load("inspect").signature(cls._configure)
        return signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=signature.empty)


class Switch(SwitchBase, BitsMode):
    """A mode that is changed where it is made, and restored where the block that may follow ends."""

    __signature__ = _SignatureOfConfigure()

    def _configure(self, *arguments: Any) -> None:
        """Take the arguments, like an `__init__`; SwitchBase calls it before the change."""
        raise NotImplementedError


class _Recording(BitsMode):
    """Records or does not, until it is left."""

    records: bool

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__module__ = "opweave"

    def __new__(cls, function: Any = None) -> Any:
        mode = super().__new__(cls)
        mode._change(UNRECORDED, not cls.records)
        return mode if function is None else mode(function)

    def __init__(self, function: Any = None) -> None:
        pass


class no_grad(_Recording):  # noqa: N801 (PyTorch's name)
    """Context, or decorator, in which no operation is recorded: results do not require gradients."""

    records = False


class enable_grad(_Recording):  # noqa: N801 (PyTorch's name)
    """Context, or decorator, in which operations are recorded, also inside of `no_grad`."""

    records = True


class set_grad_enabled(Switch):  # noqa: N801 (PyTorch's name)
    """Set whether operations are recorded, at once; as a context manager or decorator, until its end.

    Raises TypeError if `mode` is no bool.
    """

    __module__ = "opweave"

    def _configure(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise wrong_type("set_grad_enabled", "mode", "bool", mode)
        self.mode = mode
        self._change(UNRECORDED, not mode)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


class inference_mode(BitsMode):  # noqa: N801 (PyTorch's name)
    """Context, or decorator, like `no_grad` for code whose results never become part of a graph.

    Tensors made within (`is_inference()`) cannot be overwritten or told to require gradients outside, nor be saved for
    backward: RuntimeError. Views of other tensors, and those tensors themselves, are as they were.
    """

    __module__ = "opweave"

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        self = super().__new__(cls)
        self.mode = True
        self._change(UNRECORDED | _INFERENCE, True)
        return self(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode
        self._change(UNRECORDED | _INFERENCE, mode)


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is within `inference_mode`."""
    return bool(excluded() & _INFERENCE)


class _Settings(threading.local):
    may_use_other_threads = True
    gradients_lie_as_leaves = True


settings = _Settings()
"""The settings of the thread for its backward passes."""


class _Setting(_Mode):
    """Changes a setting of the thread, at once; as a context manager, until its end."""

    __module__ = "opweave.autograd.grad_mode"
    _name: str

    def __init__(self, mode: bool) -> None:
        self.mode, self.prev = mode, getattr(settings, self._name)
        setattr(settings, self._name, mode)

    def clone(self) -> Any:
        """Another one of the same mode."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        setattr(settings, self._name, self.prev)


class set_multithreading_enabled(_Setting):  # noqa: N801 (PyTorch's name)
    """Set whether backward passes may use threads of devices, at once; as a context manager, until its end.

    Nodes always run on the thread that calls `backward`, as in torch for the CPU: this is a setting that can be read,
    `is_multithreading_enabled()`. The operators of a pass use the threads of `set_num_threads`.
    """

    __module__ = "opweave.autograd.grad_mode"
    _name = "may_use_other_threads"


class enforce_grad_layout_policy(_Setting):  # noqa: N801 (PyTorch's name)
    """Set whether gradients lie in memory as their leaves do, at once; as a context manager, until its end.

    A gradient has the strides of a leaf whose elements lie next to each other, and is contiguous otherwise. Where that
    is not enforced, a leaf keeps a gradient that nobody else can see as it lies, which saves a copy.
    """

    __module__ = "opweave.autograd.grad_mode"
    _name = "gradients_lie_as_leaves"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)

    def __call__(self, function: _Function) -> _Function:
        self.__exit__()  # as a decorator it changes nothing but the calls
        return self._decorated(function)


def is_multithreading_enabled() -> bool:
    """Return what `set_multithreading_enabled` of this thread was told."""
    return settings.may_use_other_threads
