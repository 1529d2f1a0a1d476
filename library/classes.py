"""opweave.classes: classes of torch's C++ that libraries register, of which there are none."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["load_library", "loaded_libraries"]

loaded_libraries: set[str] = set()


def load_library(path: str) -> NoReturn:
    """Raise OSError: libraries that were compiled for torch cannot be loaded."""
    raise OSError(f"Could not load this library: {path}. It was compiled for torch")


class _Namespace:
    """Classes that are registered under a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # copying asks for some
            raise AttributeError(name)
        raise RuntimeError(
            f"Tried to instantiate class '{self.name}.{name}', but it does not exist! Ensure that it is registered via "
            "torch::class_"
        )


def __getattr__(name: str) -> _Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Namespace(name)
