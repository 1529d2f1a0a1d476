"""`python_module` and aliases such as `special.expit`: the submodules of opweave that contain an operator.

Input: the fields of an entry. A submodule has a word, which entries use, and a path in the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..errors import suggest
from ..source import Scalar
from .fields import Fields

SUBMODULES: Mapping[str, str] = MappingProxyType(
    {
        "fft": "fft",
        "linalg": "linalg",
        "nn": "nn.functional",
        "optim": "optim.functional",
        "signal": "signal.windows",
        "special": "special",
    }
)
"""Paths by the words in PyTorch's native_functions.yaml."""


def read(fields: Fields) -> str | None:
    """The path of the submodule that the entry names."""
    word = fields.text(fields.node, "python_module")
    if word is None:
        return None
    fields.known("module", word, SUBMODULES)
    return SUBMODULES.get(word.value)


def exports(fields: Fields, aliases: tuple[Scalar, ...]) -> tuple[tuple[str, str], ...]:
    """Paths and names of the aliases that are in submodules."""
    exports: list[tuple[str, str]] = []
    for alias in aliases:
        word, dot, name = alias.value.rpartition(".")
        if dot and word not in SUBMODULES:
            fields.report(alias.span, f"unknown module '{word}'", suggest(word, SUBMODULES))
        elif dot:
            exports.append((SUBMODULES[word], name))
    return tuple(exports)
