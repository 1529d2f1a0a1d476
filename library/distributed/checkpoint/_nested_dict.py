"""Nested state dicts as flat ones, whose keys are paths joined by dots, and back."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ..._base.tensor_class import Tensor

__all__ = ["flatten_state_dict", "set_element"]

Path = tuple[str | int, ...]


def flatten_state_dict(state_dict: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """Return the values by their paths joined by dots, and the paths.

    Dictionaries are gone into, and lists that have tensors or dictionaries; other values are as they are.

    Raises:
        ValueError: two paths give the same key.
    """
    flat: dict[str, Any] = {}
    paths: dict[str, Path] = {}

    def visit(path: Path, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, each in value.items():
                visit((*path, str(key)), each)
        elif isinstance(value, list) and _has_tensors(value):
            for index, each in enumerate(value):
                visit((*path, index), each)
        else:
            key = ".".join(map(str, path))
            if key in flat:
                raise ValueError(f"duplicated flatten key {key}")
            flat[key], paths[key] = value, path

    visit((), state_dict)
    return flat, paths


def _has_tensors(values: list[Any]) -> bool:
    return any(
        isinstance(each, (Tensor, Mapping)) or (isinstance(each, list) and _has_tensors(each)) for each in values
    )


def set_element(root: Any, path: Path, value: Any) -> None:
    """Set the value at a path, and make the dictionaries and lists that lead there."""
    for key, following in pairwise(path):
        if isinstance(root, list):
            root.extend([None] * (int(key) + 1 - len(root)))
            missing = root[int(key)] is None
        else:
            missing = key not in root
        if missing:
            root[key] = {} if isinstance(following, str) else []
        root = root[key]
    if isinstance(root, list):
        root.extend([None] * (int(path[-1]) + 1 - len(root)))
    root[path[-1]] = value
