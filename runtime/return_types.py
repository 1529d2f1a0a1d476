"""opweave.return_types: the named tuples of operators with several results, as in torch.return_types."""

from __future__ import annotations

import collections
from typing import Any


def _text(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"opweave.return_types.{type(self).__name__}(\n{fields})"


def _from_sequence(cls: Any, values: Any, unnamed: Any = None) -> Any:
    # `unnamed` is an empty dictionary in torch's pickles.
    return tuple.__new__(cls, values)


def named_results(name: str, fields: tuple[str, ...]) -> Any:
    """The class of the results of the operator `name`; it is made from one sequence, as torch's are."""
    make: Any = collections.namedtuple  # type checkers want literals, but names come from operators
    base = make(name, fields)
    members = {"__slots__": (), "__module__": "opweave.return_types", "__new__": _from_sequence, "__repr__": _text}
    members["__reduce__"] = lambda self: (type(self), (tuple(self),))
    kind = type(name, (base,), members)
    globals()[name] = kind
    return kind
