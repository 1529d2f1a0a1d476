"""opweave.serialization: files of tensors, as torch.serialization.

* names.py, rebuild.py, allowed.py, modules.py: what files name, and what that stands for
* pickler.py, unpickler.py, pickle_data.py, references.py: pickles whose tensors are references to storages
* storages.py, locations.py: from references to memory
* archive_writer.py, archive_reader.py: the zip container; legacy.py: the format before
* sources.py, atomic.py: where files are read from and written to
"""

from pickle import UnpicklingError
from typing import Any, TypeAlias

from .._names.refusals import refused_class
from .allowed import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .load import get_unsafe_globals_in_checkpoint, load
from .locations import default_restore_location, location_tag, register_package
from .options import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from .save import save

PyTorchFileReader, PyTorchFileWriter = (
    refused_class("opweave", name, "archives have no reader or writer of their own. Use load() and save()")
    for name in ("PyTorchFileReader", "PyTorchFileWriter")
)
DEFAULT_PROTOCOL = 2
FILE_LIKE: TypeAlias = Any
MAP_LOCATION: TypeAlias = Any

__all__ = [
    "LoadEndianness",
    "UnpicklingError",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]
_PACKAGE_NAMES = ["PyTorchFileReader", "PyTorchFileWriter", "load", "save"]
