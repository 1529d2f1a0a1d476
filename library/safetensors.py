"""opweave.safetensors: files of the package safetensors, with the functions of safetensors.torch.

The package writes files and checks them when they are opened. Their elements become memory of tensors without a copy:
the file is mapped, and read where tensors are used. What is written to them stays in the process.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._base.devices import available, has_values, stands_for_others
from ._base.dtypes import EXPORTS, dtype
from ._base.handles import wrap
from ._base.interchange import tensor_of_bytes
from ._base.lazy_imports import load as load_library
from ._base.notes import explained
from ._base.types import strided
from ._C import lib
from ._tensor.tensor import Tensor
from .serialization.sources import Mapped
from .serialization.storages import bytes_at

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["load", "load_file", "load_model", "safe_open", "save", "save_file", "save_model"]

_DTYPES: dict[str, dtype] = {
    "BOOL": EXPORTS["bool"],
    "F16": EXPORTS["float16"],
    "BF16": EXPORTS["bfloat16"],
    "F32": EXPORTS["float32"],
    "F64": EXPORTS["float64"],
    "C64": EXPORTS["complex64"],
    "F8_E4M3": EXPORTS["float8_e4m3fn"],
    **{f"F8_{name.upper()}": EXPORTS[f"float8_{name}"] for name in ("e5m2", "e4m3fnuz", "e5m2fnuz")},
    "F8_E8M0": EXPORTS["float8_e8m0fnu"],
    **{f"{kind[0].upper()}{bits}": EXPORTS[f"{kind}{bits}"] for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}
"""The dtypes by their names in files."""


def _library() -> Any:
    try:
        return load_library("safetensors")
    except ImportError as error:
        missing = ImportError("the package safetensors is missing: pip install opweave[safetensors]")
        raise explained(missing, "docs/files.md#safetensors") from error


def _dtype_of(name: str, key: str) -> dtype:
    found = _DTYPES.get(name)
    if found is None:
        raise TypeError(f"the tensor {key!r} in the file has the dtype {name}, which does not exist here")
    return found


# ---- writing ------------------------------------------------------------------------------------------------


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return tensors, by their names, as the bytes of a file. Errors are those of `save_file`."""
    on_cpu = _writable(tensors)
    data: bytes = _library().serialize(_described(on_cpu), metadata=metadata)
    return bytes(data)


def save_file(
    tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors, by their names, to a file.

    Args:
        metadata (dict): texts by names, to be kept with them.

    Raises:
        ValueError: it is no dictionary of tensors, or one of them is not contiguous.
        RuntimeError: tensors share memory, which they would not do after loading.
        TypeError: a dtype that such files do not have.
    """
    on_cpu = _writable(tensors)
    _library().serialize_file(_described(on_cpu), filename, metadata=metadata)


def _writable(tensors: Any) -> dict[str, Tensor]:
    """The tensors on the CPU. Refuses what such files do not have."""
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, opweave.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected opweave.Tensor but received {type(tensor)}")
        if tensor.layout is not strided:
            raise ValueError(
                f"You are trying to save a sparse tensor: `{name}` which this library does not support. You can make "
                "it a dense tensor before saving with `.to_dense()` but be aware this might make a much larger file "
                "than needed."
            )
        if not has_values(tensor) or stands_for_others(tensor):
            raise ValueError(f"Key `{name}` is invalid: the tensor has no elements in the memory of the CPU")
        if tensor.is_conj():
            raise ValueError(
                f"Key `{name}` is invalid: the tensor is read as conjugates of what is in memory. Use resolve_conj()."
            )
        if tensor.dtype not in _DTYPES.values():
            raise TypeError(f"Key `{name}`: such files have no {tensor.dtype!r}")
    shared = [group for group in _sharing(tensors) if len(group) > 1]
    if shared:
        raise RuntimeError(
            "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
            f"loading them again: {shared}. A potential way to correctly save your model is to use `save_model`."
        )
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. Call `.contiguous()` "
                "on your tensor to pack it before saving."
            )
    return {name: each.cpu() for name, each in tensors.items()}


def _described(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the descriptions of tensors' memory, as the package takes them."""
    return {
        name: _library().TensorSpec(
            dtype=str(each.dtype).rpartition(".")[2],
            shape=list(each.shape),
            data_ptr=each.data_ptr(),
            data_len=each.nbytes,
        )
        for name, each in tensors.items()
    }


def _sharing(tensors: Mapping[str, Tensor]) -> list[set[str]]:
    """The names of tensors whose elements overlap in memory."""
    groups: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for name, each in tensors.items():
        if each.numel():
            reach = sum((size - 1) * stride for size, stride in zip(each.shape, each.stride(), strict=True))
            end = each.data_ptr() + (reach + 1) * each.itemsize
            groups[lib.storage_of(each._h)].append((each.data_ptr(), end, name))
    found: list[set[str]] = []
    for group in groups.values():
        last = -1
        for start, end, name in sorted(group):
            if start < last:
                found[-1].add(name)
            else:
                found.append({name})
            last = max(last, end)
    return found


# ---- reading ------------------------------------------------------------------------------------------------


def load(data: bytes) -> dict[str, Tensor]:
    """Return the tensors in the bytes of a file, by their names."""
    found = {}
    for name, entry in _library().deserialize(data):
        found[name] = tensor_of_bytes(entry["data"], tuple(entry["shape"]), _dtype_of(entry["dtype"], name))
    return found


def load_file(filename: str | os.PathLike[str], device: Any = "cpu", *, backend: str = "mmap") -> dict[str, Tensor]:
    """Return the tensors in a file, by their names.

    Args:
        device: where they go.
        backend (str): `mmap`; others are not there.
    """
    if backend != "mmap":
        raise ValueError(f"load_file(): backend must be 'mmap', but got {backend!r}")
    with safe_open(filename, framework="pt", device=device) as file:
        return file.get_tensors()


class safe_open:  # noqa: N801 (its name in the package)
    """A file, of which tensors are read one by one.

    Args:
        filename: the path.
        framework (str): `pt`, as in programs for torch, or `opweave`.
        device: where tensors go.
    """

    def __init__(self, filename: str | os.PathLike[str], framework: str = "pt", device: Any = "cpu") -> None:
        if framework not in ("pt", "torch", "pytorch", "opweave"):
            raise ValueError(f"framework {framework} is invalid: tensors are those of opweave, 'pt'")
        self._device = available(device)
        self._file = _library().safe_open(filename, framework="numpy")  # which checks the file
        self._source = Mapped(filename, shared=False)
        length = int.from_bytes(self._source.read(0, 8), "little")
        self._entries: dict[str, Any] = json.loads(self._source.read(8, length))
        self._start = 8 + length

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.close()

    def keys(self) -> list[str]:
        """The names of the tensors, sorted."""
        names: list[str] = self._file.keys()
        return names

    def offset_keys(self) -> list[str]:
        """The names of the tensors in the order in which they lie in the file."""
        names: list[str] = self._file.offset_keys()
        return names

    def metadata(self) -> dict[str, str] | None:
        """The texts that are kept with the tensors; None if there are none."""
        texts: dict[str, str] | None = self._file.metadata()
        return texts

    def get_tensor(self, name: str) -> Tensor:
        """The tensor of this name."""
        shape, of, start, end = self._described(name)
        elements = bytes_at(self._source, self._start + start, end - start, of.itemsize)
        tensor = wrap(lib.as_strided(elements._h, shape, _packed(shape), len(shape), 0, of.code))
        return tensor if tensor.device == self._device else tensor.to(self._device)

    def get_tensors(self) -> dict[str, Tensor]:
        """All tensors by their names."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def get_slice(self, name: str) -> Slice:
        """The tensor of this name, of which parts can be read."""
        self._described(name)
        return Slice(self, name)

    def _described(self, name: str) -> tuple[tuple[int, ...], dtype, int, int]:
        entry = self._entries.get(name)
        if entry is None or name == "__metadata__":
            raise _library().SafetensorError(f"File does not contain tensor {name}")
        return tuple(entry["shape"]), _dtype_of(entry["dtype"], name), *entry["data_offsets"]


class Slice:
    """A tensor in a file: `[...]` reads a part of it."""

    def __init__(self, file: safe_open, name: str) -> None:
        self._file = file
        self._name = name

    def get_shape(self) -> list[int]:
        """The sizes of the tensor."""
        return list(self._file._described(self._name)[0])

    def get_dtype(self) -> str:
        """The dtype of the tensor, as the file has it."""
        name: str = self._file._entries[self._name]["dtype"]
        return name

    def __getitem__(self, index: Any) -> Tensor:
        return self._file.get_tensor(self._name)[index].clone()


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


# ---- modules ------------------------------------------------------------------------------------------------


def save_model(
    model: Any, filename: str, metadata: Mapping[str, str] | None = None, force_contiguous: bool = True
) -> None:
    """Write the state of a module to a file. Of tensors that are one and the same, the first by name is written.

    Args:
        force_contiguous (bool): write tensors that are not contiguous as if they were, instead of raising ValueError.
    """
    state = dict(model.state_dict())
    texts = dict(metadata or {})
    for kept, others in _duplicates(state).items():
        for name in others:
            texts.setdefault(name, kept)
            del state[name]
    if force_contiguous:
        state = {name: each.contiguous() for name, each in state.items()}
    save_file(state, filename, metadata=texts or None)


def load_model(
    model: Any, filename: str | os.PathLike[str], strict: bool = True, device: Any = "cpu", *, backend: str = "mmap"
) -> tuple[Any, list[str]]:
    """Give a module the state in a file. Return the names that the file lacks, and those that the module does not have.

    Args:
        strict (bool): whether it is an error if there are such names.

    Raises:
        RuntimeError: shapes differ, or, if `strict`, names.
    """
    state = load_file(filename, device, backend=backend)
    duplicates = _duplicates(model.state_dict(), state)
    result = model.load_state_dict(state, strict=False)
    missing, unexpected = set(result.missing_keys), list(result.unexpected_keys)
    for others in duplicates.values():
        for name in others:
            if name in missing:
                missing.discard(name)
            else:
                unexpected.append(name)
    if strict and (missing or unexpected):
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for kind, names in (("Missing", missing), ("Unexpected", unexpected)):
            if names:
                listed = ", ".join(f'"{name}"' for name in sorted(names))
                lines.append(f"    {kind} key(s) in state_dict: {listed}")
        raise RuntimeError("\n".join(lines))
    return missing, unexpected


def _duplicates(state: Mapping[str, Any], preferred: Collection[str] = ()) -> dict[str, list[str]]:
    """Return for tensors that share memory the name of the one to keep, and those of the others."""
    found = {}
    for group in _sharing(state):
        if len(group) == 1:
            continue
        complete = [name for name in group if state[name].nbytes == state[name].untyped_storage().nbytes()]
        if not complete:
            raise RuntimeError(
                "Error while trying to find names to remove to save state dict, but found no suitable name to keep for "
                f"saving amongst: {group}. None is covering the entire storage. Refusing to save/load the model since "
                "you could be storing much more memory than needed."
            )
        kept = min([name for name in complete if name in preferred] or complete)
        found[kept] = sorted(group - {kept})
    return found
