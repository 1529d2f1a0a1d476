"""The functions of one element that schedules of all families have, and the statements that call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...nest.forms import Declared, Form, Function, Line
from .rows import call, written

if TYPE_CHECKING:
    from ..blocks import Local
    from ..expressions import Variable
    from ..results import Part


class Value(Protocol):
    """C of one value, after temporaries."""

    @property
    def statements(self) -> tuple[str, ...]: ...
    @property
    def value(self) -> str: ...


class OfDType(Protocol):
    """A kernel whose functions have names that end with its dtype."""

    @property
    def suffix(self) -> str: ...


def function(kernel: OfDType, head: str, arguments: str, *body: Form, comment: str = "") -> Function:
    """Return a function of a kernel."""
    return Function(f"{head}_{kernel.suffix}({arguments})", body, comment)


def of_value(head: str, line: int, value: Value) -> Function:
    """Return a function that returns a value."""
    return Function(head, (Declared(line, written(value.statements, f"return {value.value};")),))


def of_values(head: str, part: Part, read: Sequence[Variable | Local]) -> Function:
    """Return a function of variables, whose results go where its last arguments say."""
    given = (f"{each.ctype} {each.name}" for each in read)
    targets = (f"{each.ctype} *ow_to_{each.name}" for each in part.results)
    error = "int *err" if part.emitted.uses_err else ""
    pairs = zip(part.results, part.emitted.values, strict=True)
    stored = written(part.emitted.statements, " ".join(f"*ow_to_{each.name} = {value};" for each, value in pairs))
    unused = (Line(f"{', '.join(f'(void){each.name}' for each in read)};"),) * bool(read)
    return Function(call(head, *given, *targets, error), (*unused, Declared(part.line, stored)))


def called(function: str, part: Part, given: Iterable[str], error: str = "err") -> Line:
    """Return the call of such a function, whose results have the names of the values."""
    targets = (f"&{each.name}" for each in part.results)
    return Line(f"{call(function, *given, *targets, error if part.emitted.uses_err else '')};")


def computed(function: str, part: Part, given: Iterable[str], places: Iterable[str]) -> tuple[Form, ...]:
    """Return the results of one element, and their way to their places."""
    return (
        *(Line(f"{each.ctype} {each.name};") for each in part.results),
        called(function, part, given),
        *(Line(f"{place} = {each.name};") for place, each in zip(places, part.results, strict=True)),
    )
