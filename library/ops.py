"""opweave.ops: all operators by namespace, name and overload, in the manner of torch.ops.

`opweave.ops.aten.add.Tensor(x, y)` calls one overload, `opweave.ops.aten.add(x, y)` the operator. `aten` has opweave's
own operators. Those of woven packages and those that are defined with opweave.library are in namespaces of their names.
"""

from __future__ import annotations

from ._dispatch.ops import namespaces
from ._dispatch.overloads import Namespace, namespace

__all__ = ["load_library"]


def load_library(path: str) -> None:
    """Raise OSError: libraries of operators that were compiled for torch cannot be loaded."""
    raise OSError(
        f"Could not load this library: {path}. It was compiled for torch; declare operators with opweave.library"
    )


def __getattr__(name: str) -> Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return namespace(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *namespaces})
