"""What is called, by the path from the package on, and which arguments it wants as far as that is known."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import fuzzing
import opweave
from opweave import _handle

MODULES = (
    *("", "autograd", "autograd.functional", "autograd.graph", "distributions", "distributions.constraints", "fft"),
    *("func", "linalg", "masked", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "optim"),
    *("optim.lr_scheduler", "random", "signal.windows", "sparse", "special", "utils.checkpoint", "utils.dlpack"),
)
"""Their public functions and classes are called; of classes also the methods."""

LEFT_OUT = frozenset(
    ("set_flush_denormal", "set_default_dtype", "set_printoptions", "set_num_threads", "save", "load", "from_file",
     "set_default_tensor_type", "set_anomaly_enabled", "set_autocast_enabled", "set_autocast_cpu_enabled",
     "set_autocast_dtype", "set_autocast_cpu_dtype", "check_sparse_tensor_invariants", "register_kl",
     "set_grad_enabled", "__enter__",
     "Transformer", "TransformerEncoder", "TransformerDecoder", "RNNBase", "RNN", "LSTM", "GRU")
)  # fmt: skip
"""What changes how everybody else computes or prints, or touches files, and is tested on its own; and what makes as
many layers as it is told, which may take all time and memory: see `families.layers`."""


@dataclass(frozen=True)
class Target:
    function: Callable[..., Any]
    types: tuple[str, ...] | None = None
    """Of positional arguments: types of schemas, or keys of `instances.KINDS`. None: nothing is known of them."""
    keywords: Mapping[str, str] = field(default_factory=dict)
    has_out: bool = False


@cache
def callables() -> Mapping[str, Target]:
    """Functions, classes and methods, with the types that their signatures suggest."""
    found: dict[str, Callable[..., Any]] = {}
    for path in MODULES:
        module: Any = opweave
        for name in filter(None, path.split(".")):
            module = getattr(module, name)
        public = getattr(module, "__all__", None) or [name for name in dir(module) if name[0] != "_"]
        for name in public:
            value = getattr(module, name)
            whole = f"{path}.{name}".lstrip(".")
            if callable(value) and not isinstance(value, types.ModuleType) and name not in LEFT_OUT:
                found[whole] = value
                found.update(_methods(whole, value))
    found |= {
        f"_handle.{name}": value for name, value in vars(_handle).items() if name not in _SETTERS and callable(value)
    }
    return {path: Target(value, *suggested(value)) for path, value in sorted(found.items())}


_SETTERS = {name for name in vars(_handle) if name.startswith(("set_", "exclude", "__"))} - {"set_edge"}
"""Told once, when the package is imported: what the core calls from then on."""

_OF_OBJECT = frozenset(dir(object)) - {"__init__", "__new__", "__eq__", "__ne__", "__lt__"} | {"__class_getitem__"}
_OF_MANY = ("nn.", "optim.", "distributions.")
"""In these, classes have many methods of one base class, which are called as methods of that one."""


def _methods(path: str, kind: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    if not isinstance(kind, type) or issubclass(kind, BaseException):
        return
    for name in vars(kind) if path.startswith(_OF_MANY) else dir(kind):
        value = inspect.getattr_static(kind, name)
        if name in _OF_OBJECT or name in LEFT_OUT:
            continue
        if isinstance(value, property):
            yield f"{path}.{name} (get)", value.__get__
            if value.fset:
                yield f"{path}.{name} (set)", value.fset
        elif isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)):
            yield f"{path}.{name} (get)", value.__get__
            yield f"{path}.{name} (set)", value.__set__
        elif callable(getattr(kind, name, None)):
            yield f"{path}.{name}", getattr(kind, name)


@cache
def schemas() -> Mapping[str, Target]:
    """The operators, by the same paths, with the arguments that their schemas want."""
    wanted = {id(entry.function): entry for forms in fuzzing.entries().values() for entry in forms}
    found = {path: wanted.get(id(target.function)) for path, target in callables().items()}
    return {
        path: Target(entry.function, entry.types, entry.keywords, entry.has_out)
        for path, entry in found.items()
        if entry is not None
    }


# ---- what signatures say ------------------------------------------------------------------------------------

_BY_DEFAULT = {bool: "bool", int: "count", float: "Scalar", str: "word"}
_BY_ANNOTATION = {"bool": "bool", "int": "count", "float": "Scalar", "str": "word", "Tensor": "Tensor"}


def suggested(function: Callable[..., Any]) -> tuple[tuple[str, ...] | None, Mapping[str, str]]:
    """Types of the arguments without a default, and of those with one, by names, defaults and annotations."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):
        return None, {}
    places, keywords = [], {}
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        kind = (
            "few"
            if "layers" in each.name
            else _BY_DEFAULT.get(type(each.default)) or _by_annotation(str(each.annotation)) or "any"
        )
        if each.default is each.empty and each.kind is not each.KEYWORD_ONLY:
            places.append(_of_self(function) if each.name == "self" and not places else kind)
        elif each.kind is not each.POSITIONAL_ONLY:
            keywords[each.name] = kind
    return tuple(places), keywords


def _by_annotation(text: str) -> str | None:
    return next((kind for start, kind in _BY_ANNOTATION.items() if text.startswith(start)), None)


def _of_self(function: Callable[..., Any]) -> str:
    """The class that a method belongs to."""
    return f"self {getattr(function, '__qualname__', '').partition('.')[0]}"
