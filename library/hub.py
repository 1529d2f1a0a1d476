"""opweave.hub: what torch.hub has, as errors that say what to use instead: nothing is downloaded and run."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Any
from urllib.parse import urlparse as urlparse  # which libraries take from here, as the expression below

from ._names.module_names import submodule
from ._names.refusals import refused_function

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

_CODE = (
    "code from the network is not run. Install the package that has the model, or copy its class, and give it the "
    "weights by load_state_dict()."
)
_FILES = "nothing is downloaded. Fetch the file with the tool of your choice, and read it from there."

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
"""The expression that finds the beginning of the hash in the name of a file of weights."""
_dir: str | None = None


load = refused_function(__name__, "load", _CODE)
list = refused_function(__name__, "list", _CODE)
help = refused_function(__name__, "help", _CODE)
load_state_dict_from_url = refused_function(__name__, "load_state_dict_from_url", _FILES)
download_url_to_file = refused_function(__name__, "download_url_to_file", _FILES)


load_url = load_state_dict_from_url  # as torch.utils.model_zoo has it


def __getattr__(name: str) -> Any:
    if name == "tqdm":  # the bar of a download, which libraries take from here
        try:
            return import_module("tqdm").tqdm
        except ImportError:
            raise AttributeError("the package tqdm, which has the bar of a download, is not installed") from None
    return submodule(__name__, name)


def get_dir() -> str:
    """Return the folder for downloaded files, which nothing is written to."""
    if _dir is not None:
        return _dir
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return os.path.join(os.path.expanduser(cache), "opweave", "hub")


def _get_torch_home() -> str:
    return os.path.dirname(get_dir())


def set_dir(d: Any) -> None:
    """Set the folder that `get_dir` returns."""
    global _dir
    _dir = os.path.expanduser(d)
