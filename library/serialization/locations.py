"""Locations of the storages of a file: tags such as `cpu` and `cuda:0`, and what `map_location` makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.devices import META, device, is_registered
from .._tensor.storage import AnyStorage, UntypedStorage

__all__ = ["Placement", "default_restore_location", "location_tag", "placement_of", "register_package"]

Placement = Callable[[Any, str], Any]
"""A function from the bytes on the CPU, and the tag in the file, to the storage."""

_registered: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(
    priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]
) -> None:
    """Add a kind of location.

    Args:
        priority (int): the lowest is asked first.
        tagger: returns the tag of a storage that is to be saved, None if it is of another kind.
        deserializer: is given a storage and its tag, and returns the storage at that location, or None.
    """
    _registered.append((priority, tagger, deserializer))
    _registered.sort(key=lambda row: row[0])


def _tag_of_cpu(storage: AnyStorage) -> str | None:
    return str(storage.device)


def _restored(storage: AnyStorage, location: str) -> Any:
    if location == "cpu":
        return storage
    if location == "meta":
        return UntypedStorage(storage.nbytes(), device=META)
    kind, _, index = location.partition(":")
    if not is_registered(kind) or (index and not index.isdecimal()):
        return None
    return storage.untyped()._elements.to(location).untyped_storage()


register_package(10, _tag_of_cpu, _restored)


def location_tag(storage: Any) -> str:
    """Return the tag of the device that a storage is on."""
    for _, tagger, _ in _registered:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError(f"don't know how to determine data location of {type(storage).__name__}")


def default_restore_location(storage: Any, location: str) -> Any:
    """Return the storage at the location of a tag. Raises RuntimeError where there is no such device."""
    for _, _, deserializer in _registered:
        found = deserializer(storage, location)
        if found is not None:
            return found
    raise RuntimeError(
        f"don't know how to restore data location of a storage (tagged with {location!r}): there is no such device "
        "here. Use map_location='cpu' to have the tensors on the CPU."
    )


def placement_of(map_location: Any) -> Placement:
    """Return the function that `map_location` stands for."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        table = {str(key): str(value) for key, value in map_location.items()}
        return lambda storage, location: default_restore_location(storage, table.get(location, location))
    if isinstance(map_location, (str, device)):
        tag = str(map_location)
        return lambda storage, location: default_restore_location(storage, tag)
    if not callable(map_location):
        raise TypeError(
            "map_location must be a device, its name, a dictionary of names or a function, but got "
            f"{type(map_location).__name__}"
        )

    def chosen(storage: Any, location: str) -> Any:
        found = map_location(storage, location)
        return default_restore_location(storage, location) if found is None else found

    return chosen
