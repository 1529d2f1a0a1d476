"""opweave.hub: what torch.hub has, as errors that say what to use instead: nothing is downloaded and run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

_CODE = (
    "code from the network is not run. Install the package that has the model, or copy its class, and give it the "
    "weights by load_state_dict()."
)
_FILES = "nothing is downloaded. Fetch the file with the tool of your choice, and read it from there."

_dir: str | None = None


def _refused(name: str, instead: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"opweave.hub.{name}() does not exist: {instead}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raise NotImplementedError: {instead}"
    return function


load = _refused("load", _CODE)
list = _refused("list", _CODE)
help = _refused("help", _CODE)
load_state_dict_from_url = _refused("load_state_dict_from_url", _FILES)
download_url_to_file = _refused("download_url_to_file", _FILES)


def get_dir() -> str:
    """Return the folder for downloaded files, which nothing is written to."""
    if _dir is not None:
        return _dir
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return os.path.join(os.path.expanduser(cache), "opweave", "hub")


def set_dir(d: Any) -> None:
    """Have `get_dir` return another folder."""
    global _dir
    _dir = os.path.expanduser(d)
