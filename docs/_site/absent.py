"""Names of torch that opweave does not have, and those that say what to use instead."""

from __future__ import annotations

import importlib
import sys
import typing
from collections.abc import Mapping

import opweave
from harness import recording
from opweave._names.absent_modules import ABSENT


def refused() -> Mapping[str, tuple[str, list[str]]]:
    """Return what modules without a meaning here say, and their names, by the module."""
    return {
        module: (reason, [each.lstrip("@") for each in names.split()])
        for module, (reason, names) in ABSENT.items()
        if not any(part.startswith("_") for part in module.split("."))
    }


def missing() -> Mapping[str, list[str]]:
    """Return the public names of torch's modules and class of tensors that are not there, by the place."""
    return {place: found for place in recording.PLACES if (found := sorted(_missing(place)))}


def _missing(place: str) -> set[str]:
    here = _found(place)
    foreign = {*sys.stdlib_module_names, *dir(typing), "torch", "np"}  # what torch's modules import
    return {
        name
        for name in recording.names_of(place) - foreign
        if not name.startswith("_") and not hasattr(here, name) and not name.endswith("_notes")
    }


def _found(place: str) -> object:
    if not place:
        return opweave
    return opweave.Tensor if place == "Tensor" else importlib.import_module(f"opweave.{place}")
