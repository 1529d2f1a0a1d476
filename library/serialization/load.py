"""`load`: what `save`, or torch's, has written."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from .._base.lazy_imports import load as load_library
from .._base.notes import explained
from .allowed import OBJECTS
from .archive_reader import ArchiveReader
from .legacy import LegacyStorages, load_legacy
from .locations import placement_of
from .names import resolve
from .options import byte_order_of
from .sources import Source, open_source
from .storages import Storages, StorageType
from .unpickler import WeightsUnpickler, full_name

__all__ = ["get_unsafe_globals_in_checkpoint", "load"]

_NEWEST_VERSION = 10
"""torch's, of the record `version`."""

_ADVICE = (
    "Weights only load failed. A file from a source that you trust can be read with weights_only=False, which lets it "
    "run any code. "
)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save`, or torch's, has written.

    Args:
        f: a path, or an object with `read`, `seek` and `tell`, which is read from its position on.
        map_location: where tensors go: a device or its name, a dictionary of names, or a function of a storage and its
            location in the file, which returns a storage, or None for the usual place.
        pickle_module: a module like pickle, whose Unpickler is used with `weights_only=False`.
        weights_only (bool): refuse files that name anything but tensors, numbers, texts and containers of these, or
            what `add_safe_globals` allows. Without, a file can run any code: only for sources that you trust. None
            stands for True unless there is a `pickle_module`.
        mmap (bool): whether to map the file, so that elements are read when they are first used.
        pickle_load_args: of the Unpickler, such as `encoding`.

    Raises:
        UnpicklingError: the pickle in the file is damaged, or names what is not allowed.
        RuntimeError: the file is truncated or damaged, of an unknown version, or has another kind of contents.
        EOFError: it ends too early.
        ValueError: texts in it cannot be decoded.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "model.pt")
        >>> opweave.save(opweave.nn.Linear(2, 1).state_dict(), path)
        >>> list(opweave.load(path))
        ['weight', 'bias']
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    placement = placement_of(map_location)
    source = open_source(f, bool(mmap))
    try:
        unpickle = _unpickle(weights_only, pickle_module or pickle, pickle_load_args, source.size)
        if source.read(0, min(4, source.size)) == b"PK\3\4":
            return _load_archive(source, placement, unpickle)
        if mmap:
            raise RuntimeError(
                "mmap can only be used with files saved with `save(_use_new_zipfile_serialization=True)`: this one "
                "has another format"
            )
        return _load_legacy(source, placement, unpickle)
    except UnpicklingError as error:
        raise explained(
            UnpicklingError(_ADVICE + str(error)) if weights_only else error, "docs/files.md#reading-files-of-others"
        ) from None
    finally:
        source.close()


_Unpickle = Callable[[bytes, int, Callable[[Any], Any]], tuple[Any, int]]
"""A function from bytes, a place in them and a function that answers references, to the object of the pickle and its
end."""


def _unpickle(weights_only: bool, module: Any, options: dict[str, Any], size_of_file: int) -> _Unpickle:
    if weights_only:
        encoding = options.get("encoding", "utf-8")

        def unpickle(data: bytes, place: int, persistent_load: Callable[[Any], Any]) -> tuple[Any, int]:
            reader = WeightsUnpickler(data, persistent_load, encoding, place, size_of_file)
            return reader.load(), reader.place

        return unpickle

    def unpickle_all(data: bytes, place: int, persistent_load: Callable[[Any], Any]) -> tuple[Any, int]:
        file = io.BytesIO(data)
        file.seek(place)
        methods = {"find_class": _find_class, "persistent_load": lambda self, reference: persistent_load(reference)}
        reader = type("Unpickler", (module.Unpickler,), methods)(file, **{"encoding": "utf-8", **options})
        return reader.load(), file.tell()

    return unpickle_all


def _find_class(self: Any, module: str, name: str) -> Any:
    full = full_name(module, name)
    found = OBJECTS.get(full)
    if found is not None:
        # Classes of storages as such: a pickle may have them elsewhere than in references.
        return found.kind if isinstance(found, StorageType) else found
    if full.startswith("torch."):
        return resolve(*full.rsplit(".", 1)) if "." not in name else resolve("torch" + module[module.find(".") :], name)
    return super(type(self), self).find_class(module, name)


# ---- archives -----------------------------------------------------------------------------------------------


def _load_archive(source: Source, placement: Any, unpickle: _Unpickle) -> Any:
    archive = ArchiveReader(source)
    if "constants.pkl" in archive:
        raise RuntimeError(
            "the file is a TorchScript archive: a program, of which only torch.jit.load makes something. Save the "
            "module's state_dict() with torch.save() and load that."
        )
    _check_version(archive)
    order = byte_order_of(archive.read("byteorder") if "byteorder" in archive else None, sys.byteorder)
    storages = Storages(archive, placement, order)
    result, _ = unpickle(archive.read("data.pkl"), 0, storages.persistent_load)
    return result


def _check_version(archive: ArchiveReader) -> None:
    name = next((each for each in ("version", ".data/version") if each in archive), None)
    if name is None:
        raise RuntimeError("the file has no record of its version. It is damaged.")
    text = archive.read(name).strip()
    if not (text.isdigit() and len(text) < 10):
        raise RuntimeError(f"Couldn't parse the version {text[:20]!r} of the file as a number")
    if not 1 <= int(text) <= _NEWEST_VERSION:
        raise RuntimeError(
            f"Attempted to read a file with version {int(text)}, but the supported versions are 1 to {_NEWEST_VERSION}"
        )


# ---- the old format -----------------------------------------------------------------------------------------


def _load_legacy(source: Source, placement: Any, unpickle: _Unpickle) -> Any:
    if not source.size:
        raise EOFError("Ran out of input: the file is empty")
    data = source.read(0, source.size)
    if data[257:262] == b"ustar":
        raise RuntimeError("the file is a tar archive, as torch wrote before 0.1.10: load and save it with torch")
    if data[:1] != pickle.PROTO:
        raise UnpicklingError("it is no file that save() wrote: it begins neither as a zip archive nor as a pickle")
    storages = LegacyStorages(placement)
    result, end = load_legacy(data, lambda place: unpickle(data, place, storages.persistent_load), storages)
    source.leave_at(end)
    return result


# ---- what a file asks for -----------------------------------------------------------------------------------


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the names of classes and functions in a file that `load` refuses unless they are added by
    `add_safe_globals`. Nothing is loaded.
    """
    source = open_source(f, False)
    try:
        data = ArchiveReader(source).read("data.pkl")
    finally:
        source.close()
    return sorted({name for name in _names_in(data) if name not in OBJECTS})


def _names_in(data: bytes) -> list[str]:
    names: list[str] = []
    texts: list[Any] = []
    argument: Any
    try:
        for opcode, argument, _ in load_library("pickletools").genops(data):
            if opcode.name == "GLOBAL":
                names.append(full_name(*argument.split(" ", 1)))
            elif opcode.name == "STACK_GLOBAL":
                names.append(full_name(*texts[-2:]))
            elif opcode.name in ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"):
                texts.append(argument)
    except (ValueError, TypeError) as error:
        raise UnpicklingError(f"the pickle is damaged: {error}") from None
    return names
