"""`opweave stubs`: type checkers see the methods that woven packages add to class Tensor.

No type checker knows attributes that are added at run time, so class Tensor has, for them alone, a base of which
nothing but a stub exists; that is written anew.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from . import inspect_op

FILE = "_woven_methods.pyi"


def text(packages: Sequence[str]) -> str:
    """The stub with the methods of these packages, which are imported."""
    from ..codegen.emit import stubs

    known = inspect_op.known()
    return stubs.emit_methods({name: [each.operator for each in known if each.package == name] for name in packages})


def write(packages: Sequence[str]) -> Path:
    """Writes the stub of the installed opweave; its path. Raises OSError."""
    from ..codegen import generate

    spec = importlib.util.find_spec("opweave")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).with_name(FILE)
    if not path.with_name("_operators.pyi").is_file():
        raise FileNotFoundError(f"{path.parent} is a source tree, where type checkers find no package opweave")
    generate.replace(path, text(packages).encode())
    return path
