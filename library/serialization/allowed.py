"""The objects that a file may name without running code: torch's functions that make tensors, dtypes, a few plain
classes, and what users add."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from pickle import UnpicklingError
from types import TracebackType
from typing import Any

from .._base.devices import device
from .._base.dtypes import EXPORTS, QUANTIZED
from .._base.types import QSCHEMES, Size
from .._tensor.tensor import Tensor
from .._tensor.typed_tensors import TENSOR_TYPES
from ..nn.parameter import Parameter
from .names import is_own, module_of_torch
from .rebuild import FUNCTIONS, make_parameter
from .storages import STORAGE_NAMES

__all__ = [
    "CALLS",
    "OBJECTS",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "name_of",
    "safe_globals",
    "user_globals",
]


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """Bytes, as protocol 2 writes them."""
    if not (isinstance(text, str) and encoding in ("latin1", "latin-1", "utf-8")):
        raise UnpicklingError("bytes in the file are damaged")
    return text.encode(encoding)


def _bytearray(data: Any = b"", encoding: Any = None) -> bytearray:
    if isinstance(data, str):
        data = _encode(data, encoding)
    if not isinstance(data, (bytes, bytearray)):  # a number would make so many zeros
        raise UnpicklingError("a bytearray in the file is damaged")
    return bytearray(data)


def _complex(real: Any, imag: Any) -> complex:
    if not (isinstance(real, (int, float)) and isinstance(imag, (int, float))):
        raise UnpicklingError("a complex number in the file is damaged")
    return complex(real, imag)


def _size(sizes: Any = ()) -> Size:
    if not (isinstance(sizes, (tuple, list)) and all(type(each) is int for each in sizes)):
        raise UnpicklingError("a Size in the file is damaged")
    return Size(sizes)


def _ordered_dict(pairs: Any = ()) -> OrderedDict[Any, Any]:
    if not (isinstance(pairs, (tuple, list)) and all(isinstance(each, (tuple, list)) for each in pairs)):
        raise UnpicklingError("an OrderedDict in the file is damaged")
    return OrderedDict(pairs)


def _counter(counts: Any = ()) -> Counter[Any]:
    if not isinstance(counts, (dict, tuple)):
        raise UnpicklingError("a Counter in the file is damaged")
    return Counter(counts)


def _set(elements: Any = ()) -> set[Any]:
    if not isinstance(elements, (tuple, list)):
        raise UnpicklingError("a set in the file is damaged")
    return set(elements)


def _device(*arguments: Any) -> device:
    return device(*arguments)


# By torch's names: what a name stands for in a pickle, and what a call of it does (None: it cannot be called).
_TABLE: dict[str, tuple[Any, Callable[..., Any] | None]] = {
    **{name: (function, function) for name, function in FUNCTIONS.items()},
    **{name: (kind, None) for name, kind in STORAGE_NAMES.items()},
    **{f"torch.{name}": (each, None) for name, each in (EXPORTS | QUANTIZED).items()},
    **{f"torch.{name}": (each, None) for name, each in QSCHEMES.items()},
    **{f"torch.{name}": (kind, None) for name, kind in TENSOR_TYPES.items()},
    "torch.Tensor": (Tensor, None),
    "torch.nn.parameter.Parameter": (Parameter, make_parameter),
    "torch.Size": (Size, _size),
    "torch.device": (device, _device),
    "collections.OrderedDict": (OrderedDict, _ordered_dict),
    "collections.Counter": (Counter, _counter),
    "builtins.set": (set, _set),
    "builtins.bytearray": (bytearray, _bytearray),
    "builtins.complex": (complex, _complex),
    "_codecs.encode": (_encode, _encode),
}

OBJECTS: dict[str, Any] = {name: row[0] for name, row in _TABLE.items()}
"""The objects by name."""

CALLS: dict[int, Callable[..., Any]] = {id(each): call for each, call in _TABLE.values() if call is not None}
"""The functions that calls run, by the identity of what is called: what a file has in its place may not be hashable."""


# ---- what users add -----------------------------------------------------------------------------------------

_added: list[Any] = []


def name_of(function: Any) -> str:
    """The name of a class or a function as files have it."""
    module, name = function.__module__, function.__qualname__
    return f"{module_of_torch(module, name) if is_own(module) else module}.{name}"


def user_globals() -> dict[str, Any]:
    """Return the objects that users have added, by their names in files."""
    return {name: each for each, name in map(_named, _added)}


def _named(added: Any) -> tuple[Any, str]:
    return added if isinstance(added, tuple) else (added, name_of(added))


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Allow classes and functions in files that are loaded with `weights_only=True`: they will be called.

    Args:
        safe_globals (list): classes and functions, or pairs of one and the full name that it has in files.
    """
    for each in safe_globals:
        if isinstance(each, tuple) and not (len(each) == 2 and isinstance(each[1], str)):
            raise ValueError(f"Expected tuple of global and its name, but got {each!r}")
        if each not in _added:
            _added.append(each)


def get_safe_globals() -> list[Any]:
    """Return the classes and functions that were added."""
    return list(_added)


def clear_safe_globals() -> None:
    """Take back all that was added."""
    _added.clear()


class safe_globals:  # noqa: N801 (torch's name)
    """Allow classes and functions as `add_safe_globals` does, within a block."""

    def __init__(self, safe_globals: Sequence[Any]) -> None:
        self.safe_globals = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _added[:] = self._before
