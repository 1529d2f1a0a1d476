"""opweave.return_types: the named tuples of operators with several results, as in torch.return_types."""

from __future__ import annotations

from operator import itemgetter
from typing import Any


class _NamedResults(tuple[Any, ...]):
    """A tuple whose elements have names; it is made from one sequence, as torch's are.

    collections.namedtuple would make each class from source text, which is slow.
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, values: Any, unnamed: Any = None) -> Any:
        return super().__new__(cls, values)  # `unnamed` is an empty dictionary in torch's pickles

    def __repr__(self) -> str:
        fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"opweave.return_types.{type(self).__name__}(\n{fields})"

    def __reduce__(self) -> Any:
        return type(self), (tuple(self),)


def named_results(name: str, fields: tuple[str, ...]) -> Any:
    """The class of the results of the operator `name`."""
    members: dict[str, Any] = {
        field: property(itemgetter(place), doc=f"Element {place} of the tuple.") for place, field in enumerate(fields)
    }
    members |= {"__slots__": (), "__module__": __name__, "_fields": fields, "__match_args__": fields}
    members["__doc__"] = f"The results of `{name}`: a tuple of {', '.join(fields)}."
    kind = type(name, (_NamedResults,), members)
    globals()[name] = kind
    return kind
