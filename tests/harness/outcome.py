"""What a call gives, described so that two libraries can be compared and that torch's part can be stored.

A description is made of None, bool, int, float, str and of the classes below. Libraries may name themselves in texts.
"""

from __future__ import annotations

import base64
import hashlib
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import opweave

from codegen.dtypes import DTYPES, DType

from .arrays import Array, array, from_memory, holder, stored_dtype, to_memory

Described = Any
PARAGRAPH = " ¶ "
"""Between the paragraphs of an error's text, whose other white space is not compared."""


@dataclass(frozen=True)
class Error:
    kind: str
    text: str


@dataclass(frozen=True)
class Text:
    """A value that is compared by its printed form."""

    kind: str
    text: str


@dataclass(frozen=True)
class Printed:
    """A tensor by its printed form, and how it lies in memory."""

    text: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Items:
    """A list, a tuple or a named tuple."""

    kind: str
    items: tuple[Described, ...]


@dataclass(frozen=True)
class Table:
    """A dictionary."""

    keys: Items
    values: Items


@dataclass(frozen=True, eq=False)
class Values:
    """A tensor by its elements: all of them, some that are spread over it, or a digest of all."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    values: Array | None
    digest: str = ""

    @property
    def of(self) -> DType:
        return DTYPES[self.dtype]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def spread(self, count: int) -> Array:
        """Places of so many elements, the first and the last among them."""
        return np.arange(count) if count == self.size else np.arange(count) * (self.size - 1) // max(count - 1, 1)

    def digest_of(self, signed_zeros: bool) -> str:
        """Of all elements to the bit, but that all NaN are one, and zeros of both signs one if they have none."""
        assert self.values is not None
        values = self.values.reshape(-1)
        if self.of.is_complex:
            values = values.view(values.real.dtype)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
            values = values if signed_zeros else values + values.dtype.type(0)
        return hashlib.blake2b(values.tobytes(), digest_size=6).hexdigest()


# ---- of calls -----------------------------------------------------------------------------------------------


def outcome(call: Callable[[ModuleType], Any], library: ModuleType, printed: bool = False) -> Described:
    """What the call gives, or its exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return described(call(library), library, printed)
    except Exception as error:
        linalg = getattr(getattr(library, "linalg", None), "LinAlgError", ())
        kind = "LinAlgError" if isinstance(error, linalg) else type(error).__name__
        text = str(error).partition("\nException raised")[0]
        return Error(kind, PARAGRAPH.join(own_name(part, library) for part in text.split("\n\n")))


def described(value: Any, library: ModuleType, printed: bool) -> Described:
    if isinstance(value, library.Tensor):
        return print_of(value, library) if printed else values_of(value, library)
    if value is None or type(value) in (bool, int, float):
        return value
    if type(value) is str:
        return own_name(value, library)
    if isinstance(value, dict):
        keys = sorted(value, key=str)
        return Table(*(described(part, library, printed) for part in (keys, [value[key] for key in keys])))
    if isinstance(value, (list, tuple)):
        # torch has classes of their own for named tuples that are the `out` of a call.
        kind = type(value).__name__.removesuffix("_out")
        return Items(kind, tuple(described(each, library, printed) for each in value))
    if isinstance(value, np.ndarray):
        return Text("ndarray", f"{value.dtype} {value.shape} {value.strides} {value.tolist()}")
    return Text(type(value).__name__, own_name(repr(value), library))


def print_of(tensor: Any, library: ModuleType) -> Printed:
    return Printed(own_name(repr(tensor), library), tuple(tensor.shape), strides(tensor), tensor.storage_offset())


def values_of(tensor: Any, library: ModuleType) -> Values:
    dtype = str(tensor.dtype).rpartition(".")[2]
    elements = array(tensor.detach().resolve_conj()) if library is opweave else torch_array(tensor, DTYPES[dtype])
    return Values(dtype, tuple(tensor.shape), strides(tensor), bool(tensor.requires_grad), elements)


def strides(tensor: Any) -> tuple[int, ...]:
    """Those that matter: a stride is never used in a dimension of fewer than two positions."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return tuple(stride for size, stride in pairs if size > 1) if tensor.numel() else ()


def torch_array(tensor: Any, dtype: DType) -> Array:
    """torch's elements (added to zeros, as some of its tensors are zeros without memory)."""
    torch = __import__("torch")
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if dtype.numpy is None:
        words = tensor.contiguous().view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[dtype.itemsize])
        return from_memory(words.numpy().view(stored_dtype(dtype)), dtype)
    if tensor._is_zerotensor():
        return np.zeros(tuple(tensor.shape), holder(dtype))
    return np.array(tensor.numpy())


def own_name(text: str, library: ModuleType) -> str:
    """Without the names of the libraries; some of opweave's messages call functions by torch's names."""
    text = re.sub(rf"\b({library.__name__}|torch)\.(storage\.)?", "L.", text)
    # torch says TypedStorage of the storages of every dtype, even where they are instances of FloatStorage.
    text = re.sub(r"TypedStorage\(dtype=L\.(\w+), device=cpu\)", _storage_name, text)
    text = re.sub(r"<class 'L\.\w+Storage'>", "<class 'L.TypedStorage'>", text)
    # An argument may be given by another name, so that Python counts none as required.
    text = re.sub(r"takes (?:from 0 to )?(\d+) positional arguments?", r"takes \1 positional arguments", text)
    return " ".join(text.split())


def _storage_name(dtype: re.Match[str]) -> str:
    return f"{getattr(opweave, dtype[1]).scalar_name}Storage"


# ---- as JSON ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What is stored of tensors that have more than `few` elements: a digest of all if they must be equal to the bit,
    else so many elements."""

    few: int
    exact: bool
    signed_zeros: bool


def stored(value: Described, kept: Kept) -> Any:
    """As JSON."""
    if isinstance(value, Values):
        facts = {"dtype": value.dtype, "shape": value.shape, "strides": value.strides, "grad": value.requires_grad}
        if kept.exact and value.size > kept.few:
            return {**facts, "digest": value.digest_of(kept.signed_zeros)}
        assert value.values is not None
        chosen = value.values.reshape(-1)[value.spread(min(value.size, kept.few))]
        return {**facts, "values": base64.b64encode(to_memory(chosen, value.of).tobytes()).decode()}
    if isinstance(value, Printed):
        return {"printed": value.text, "shape": value.shape, "strides": value.strides, "offset": value.offset}
    if isinstance(value, Error):
        return {"error": value.kind, "text": value.text}
    if isinstance(value, Text):
        return {"kind": value.kind, "text": value.text}
    if isinstance(value, Items):
        return {"kind": value.kind, "items": [stored(each, kept) for each in value.items]}
    if isinstance(value, Table):
        return {"keys": stored(value.keys, kept), "values": stored(value.values, kept)}
    return value


def restored(value: Any) -> Described:
    """From JSON."""
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        dtype, shape = DTYPES[value["dtype"]], tuple(value["shape"])
        values = None
        if "values" in value:
            memory = np.frombuffer(base64.b64decode(value["values"]), stored_dtype(dtype))
            values = from_memory(memory, dtype)
        return Values(dtype.name, shape, tuple(value["strides"]), value["grad"], values, value.get("digest", ""))
    if "printed" in value:
        return Printed(value["printed"], tuple(value["shape"]), tuple(value["strides"]), value["offset"])
    if "error" in value:
        return Error(value["error"], value["text"])
    if "items" in value:
        return Items(value["kind"], tuple(map(restored, value["items"])))
    if "keys" in value:
        return Table(restored(value["keys"]), restored(value["values"]))
    return Text(value["kind"], value["text"])
