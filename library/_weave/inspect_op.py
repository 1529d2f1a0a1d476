"""The output of `opweave show` and `opweave list` for operators: entry, derived signatures, generated C.

Reads the declarations that are installed with opweave and those inside woven packages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .._base import package_data
from . import loaded_libraries
from .levels import DECLARATIONS

if TYPE_CHECKING:
    from ..codegen.model.operator import Operator


@dataclass(frozen=True)
class Section:
    """One part of an answer; `language` is that of its text: yaml, python, loops (readable C) or c."""

    title: str
    language: str
    text: str


@dataclass(frozen=True)
class Known:
    """An operator and the package it belongs to."""

    package: str
    operator: Operator


def known() -> list[Known]:
    """opweave's operators, then those of each library that this process has loaded."""
    own = [Known("opweave", operator) for operator in own_operators()]
    woven = [(each.package, Path(each.folder) / DECLARATIONS) for each in loaded_libraries.loaded()]
    return own + [Known(package, operator) for package, path in woven for operator in _read(path)]


@cache
def own_operators() -> tuple[Operator, ...]:
    """Return the operators of opweave itself."""
    return _read(package_data.path("ops.yaml"))


def _read(path: Path) -> tuple[Operator, ...]:
    from ..codegen import library

    return library.read(path, path.name, sound=True)


def find(name: str) -> list[Known]:
    """The operators that a name stands for: an operator's own name, an alias or a special method, perhaps preceded by
    a package. Raises KeyError, with a suggestion, when there is none."""
    from ..codegen.errors import suggest
    from ..codegen.model.variants import function_names, method_names

    everything = known()
    package, _, base = name.rpartition(".")
    spoken: dict[str, list[Known]] = {}
    for each in everything:
        if package in ("", each.package):
            names = {each.operator.name, *function_names(each.operator), *method_names(each.operator)}
            for spelling in names:
                spoken.setdefault(spelling, []).append(each)
    if base not in spoken:
        candidates = [each.operator.name for each in everything if package in ("", each.package)]
        raise KeyError(f"there is no operator '{name}'; {suggest(base, candidates)}")
    return spoken[base]


def sections(each: Known) -> Iterator[Section]:
    """Everything that follows from an entry and can be read: the entry first, the kernels of its gradients last."""
    from ..codegen.emit import backward, derivatives, kernels, loops

    operator = each.operator
    yield Section(f"entry, {operator.file}:{operator.span.line}", "yaml", operator.text.rstrip())
    yield Section("Python", "python", signatures(each))
    loop_nest = loops.nest(operator)
    if loop_nest is not None:
        yield Section(f"loops in {loops.dtype_of(operator)}", "loops", loop_nest)
    code = kernels.emit(operator)
    if code is not None:
        yield Section("C, compiled once for each instruction-set level", "c", code.rstrip())
    if operator.derivatives:
        yield Section("derivative, a node of the graph", "python", derivatives.emit_class(operator, _beside(each)))
    for other in _following(each):
        nest = loops.nest(other)
        if nest is not None:
            title = f"loops of {other.name} in {loops.dtype_of(other)}"
            yield Section(title, "loops", f"/* {other.schema} */\n{nest}")
    for kernel in backward.operators([operator]):
        yield Section(f"C of {kernel.name}", "c", (kernels.emit(kernel) or "").rstrip())


def _following(each: Known) -> list[Operator]:
    """The operators that follow from an entry: of its gradients, and of its terms and their places."""
    others = (other.operator for other in known() if other.package == each.package)
    return [
        other for other in others if other.derived and other.span == each.operator.span and not each.operator.derived
    ]


def _beside(each: Known) -> list[Operator]:
    """The operators of the same package, which derivatives may call."""
    return [other.operator for other in known() if other.package in (each.package, "opweave")]


def signatures(each: Known) -> str:
    """The functions and methods, as Python writes them."""
    from ..codegen.emit import stubs

    lines = [f"# {each.package}"]
    lines += [f"def {stub.name}({stub.signature}) -> {stub.result}" for stub in stubs.functions(each.operator)]
    methods = stubs.methods(each.operator)
    if methods:
        lines += ["", "class Tensor:"]
        for stub in methods:
            lines += ["    @property"] if stub.is_property else []
            lines.append(f"    def {stub.name}({stub.signature}) -> {stub.result.split('  #')[0]}")
    return "\n".join(lines)


def listing() -> list[tuple[str, str, str]]:
    """Name, family and schema of every operator; the name of a library's operator is preceded by its package."""
    return [
        (
            each.operator.name if each.package == "opweave" else f"{each.package}.{each.operator.name}",
            each.operator.family.key,
            str(each.operator.schema),
        )
        for each in known()
    ]
