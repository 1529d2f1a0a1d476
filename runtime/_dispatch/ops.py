"""The namespace of operators: `ops.cat(tensors)` calls `cat`, wherever in the package the caller stands.

The generated module `_operators` fills it with all its functions, those of internal operators included, when it is
imported. So composites and derivatives call operators without importing the module that calls them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

ops: Any = SimpleNamespace()

BUILTIN = "aten"
"""The namespace of opweave's own operators, as users see it: the name is torch's."""

namespaces: dict[str, dict[str, Any]] = {}
"""The function of every operator by namespace and name, in-place forms and aliases included; of operators that may have
several schemas, the functions by the names of the overloads."""
