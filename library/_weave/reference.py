"""The text of a name's documentation, as `help` has it, or of a page: `opweave docs`."""

from __future__ import annotations

import inspect
import re
from typing import Any

import opweave

from ..codegen.errors import suggest
from . import pages


def documentation(name: str) -> str:
    """Return the signature and the docstring of a public name, such as `softmax`, `nn.Linear` or `Tensor.add_`, or
    the text of a page, `faq` or `autograd.md`.

    Raises:
        KeyError: there is no such name; the message has the nearest one.
    """
    if pages.is_page(name):
        return pages.page(name)
    parts = name.removeprefix("opweave.").split(".")
    found: Any = opweave
    for place, part in enumerate(parts):
        try:
            found = getattr(found, part)
        except AttributeError:
            if name in pages.names():
                return pages.page(name)
            within = ".".join(["opweave", *parts[:place]])
            names = [each for each in dir(found) if not each.startswith("_")]
            names += pages.names() if found is opweave else []
            raise KeyError(f"{within} has no '{part}'; {suggest(part, names)}") from None
    doc = inspect.getdoc(found) or "There is no docstring."
    more = f"\n\nThere is a page, too: opweave docs {name}.md" if name in pages.names() else ""
    return f"{'.'.join(['opweave', *parts])}{_signature(found)}\n\n{doc}{more}"


def _signature(found: Any) -> str:
    """The parameters and their defaults, without addresses in memory. Their types are in docstrings, in words."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return ""  # modules, dtypes, constants
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)
