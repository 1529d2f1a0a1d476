"""Watches what Python runs while calls are recorded, and refuses what another run may do otherwise.

A function answers calls with other elements alike if its Python depends on nothing but what is compared: so each
function that runs must be one whose variables are known, one of the package that keeps no state, or one of Python's own
that depends on its arguments alone.
"""

from __future__ import annotations

import builtins
import gc
from collections.abc import Collection
from types import CodeType, FrameType, GeneratorType, ModuleType
from typing import Any

from .._base.tensor_class import Tensor
from .._tensor import construct
from ._python_state import PACKAGE, is_own, is_trusted
from ._recording import Recording

_PURE = frozenset(f"{PACKAGE}.{name}" for name in (
    "_autograd.grad_mode", "_autograd.node", "_autograd.record", "_base", "_batching", "_branches", "_derivatives",
    "_dispatch", "_forward", "_handle", "_operators", "_ops", "_representations.named", "_tensor.assignment",
    "_tensor.construct", "_tensor.dtype_methods", "_tensor.index_parser", "_tensor.indexing", "_tensor.inplace_methods",
    "_tensor.shape_methods", "_tensor.tensor", "amp", "autograd.functional", "compiler", "fft", "func", "functional",
    "linalg", "nn", "return_types", "signal", "special", "utils._pytree",
))  # fmt: skip
"""Modules and folders of the package whose functions keep nothing from one call to the next but in their arguments."""
_STATEFUL = frozenset(f"{PACKAGE}.{name}" for name in (
    "_base.generator", "_base.threads", "_ops.memory_changes", "_ops.numpy_bridge", "nn.utils",
))  # fmt: skip
"""The modules and folders among them that do keep something."""
_TRANSFORMS = frozenset(f"{PACKAGE}.{name}" for name in (
    "_autograd", "_batching", "_forward", "_tensor.grad_methods", "autograd.forward_ad", "autograd.functional", "func",
))  # fmt: skip
"""Modules and folders of the package that change the histories of tensors: of their own where one calls another."""
_REASONS = {f"{PACKAGE}.optim": "changes parameters, their gradients or the state of an optimizer"}
"""Effects for which functions in a folder of the package cannot be recorded."""
_PURE_METHODS = frozenset((
    "is_leaf", "made_in_inference_mode", "requires_grad", "__bool__", "__complex__", "__contains__", "__float__",
    "__index__", "__int__", "__iter__", "__len__", "_only_element", "_real_element", "item",
))  # fmt: skip
"""Methods of tensors in other modules that depend on compared facts, or read elements by operators."""
_UNCOMPARED_FACTS = frozenset(("_is_view", "_version", "is_leaf", "storage_offset"))
"""Methods that give facts of tensors by which calls are not told apart, so a function must not ask for them."""
_SETTINGS = frozenset(f"{PACKAGE}._base.{name}" for name in ("determinism", "unused_settings"))
"""Modules of settings on which no result depends, but for functions that ask for them."""
_IMPORTERS = frozenset(("importlib", "importlib._bootstrap", "_frozen_importlib"))
_BUILTINS = frozenset(getattr(builtins, name) for name in (
    "__build_class__", "abs", "all", "any", "bin", "callable", "chr", "divmod", "format", "getattr", "hasattr", "hash",
    "hex", "isinstance", "issubclass", "iter", "len", "max", "min", "next", "oct", "ord", "pow", "repr", "round",
    "setattr", "sorted", "sum", "vars",
))  # fmt: skip
_CONTAINERS = (list, tuple, dict, set, frozenset, str, bytes, int, float, complex, bool, range, GeneratorType)


class Watch:
    """The function that Python calls for each function that begins or ends, as sys.setprofile asks for."""

    def __init__(self, recording: Recording, codes: Collection[CodeType]) -> None:
        """Watch a recording. `codes` are those whose variables are known."""
        self._recording = recording
        self._codes = codes
        self._aside: FrameType | None = None
        """A function that is no part of the program, until it returns: one that imports a module of the package, or
        one that Python's garbage collector calls."""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        recording = self._recording
        if recording.is_paused or recording.reason is not None:
            return
        if self._aside is not None:
            if event == "return" and frame is self._aside:
                self._aside = None
        elif event == "call":
            self._begins(frame)
        elif event == "c_call":
            self._calls(frame, argument)
        elif event == "return" and frame.f_code is _MAKER:
            recording.made[id(argument)] = argument

    def _begins(self, frame: FrameType) -> None:
        module, code = frame.f_globals.get("__name__"), frame.f_code
        self._recording.calls_modules |= module == _CALLS
        caller = None if frame.f_back is None else frame.f_back.f_globals.get("__name__")
        if is_own(module) and not is_own(caller) and (code.co_name in _UNCOMPARED_FACTS or module in _SETTINGS):
            self._refuse(frame, "tells of more than is compared")
            return
        if code in self._codes or is_trusted(module) or is_pure(module):
            return
        is_assignment = code.co_name == "requires_grad" and code.co_argcount > 1
        if is_own(module) and code.co_name in _PURE_METHODS and not is_assignment:
            return
        if _is_in(module, _TRANSFORMS) and _is_in(caller, _TRANSFORMS):
            return
        is_import = module in _IMPORTERS and is_own(caller)
        if is_import or any(getattr(each, "__code__", None) is code for each in gc.callbacks):
            self._aside = frame
            return
        self._refuse(frame, _REASONS.get((module or "").rpartition(".")[0], "may depend on more than its arguments"))

    def _refuse(self, frame: FrameType, why: str) -> None:
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        self._recording.refuse(f"{name}() of {frame.f_globals.get('__name__')} runs, which {why}", frame.f_back)

    def _calls(self, frame: FrameType, function: Any) -> None:
        if is_own(frame.f_globals.get("__name__")) or function in _BUILTINS:
            return
        owner = getattr(function, "__self__", None)
        if isinstance(owner, Tensor):
            self._recording.refuse(f"{function.__name__}() reads elements", frame)
            return
        if (
            isinstance(owner, _CONTAINERS)
            or any(owner is each for each in _CONTAINERS)
            or is_own(type(owner).__module__)
        ):
            return
        if isinstance(owner, ModuleType) and owner is not builtins and is_trusted(owner.__name__.lstrip("_")):
            return
        name = getattr(function, "__qualname__", repr(function))
        self._recording.refuse(f"{name}() is called, which may do more than its arguments decide", frame)


def is_pure(module: str | None) -> bool:
    """Return whether a module of the package keeps nothing from one call of its functions to the next."""
    return is_own(module) and not _is_in(module, _STATEFUL) and _is_in(module, _PURE)


def _is_in(module: str | None, known: Collection[str]) -> bool:
    """Return whether a module is one of these, or in a folder among them."""
    while module and module not in known:
        module = module.rpartition(".")[0]
    return bool(module)


_CALLS = f"{PACKAGE}.nn.modules._calls"
_MAKER: CodeType = construct.tensor.__code__
