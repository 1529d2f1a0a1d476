"""The modules that submodules of opweave take their operators from: opweave/_special.py and the like."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import variants
from ..model.operator import Operator
from ..read.submodules import SUBMODULES
from .text import render


def emit(operators: Sequence[Operator], source: str) -> dict[str, str]:
    """Texts by file name, one for each submodule."""
    files = {}
    for module in SUBMODULES.values():
        names = sorted(
            (name, operator.name + "_" * name.endswith("_"))
            for operator in operators
            for path, name in variants.submodule_names(operator)
            if path == module
        )
        output = f"_{module.replace('.', '_')}.py"
        files[output] = render("submodule.py.j2", source, output, module=module, names=names)
    return files
