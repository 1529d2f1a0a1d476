"""Pages of operators and their index by section. All that a page says follows from the entry in ops.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from opweave._weave import inspect_op
from opweave.codegen.docs import arguments, docstrings, results, sessions, typeset
from opweave.codegen.emit import kernels, loops
from opweave.codegen.model import rules
from opweave.codegen.model.operator import Operator
from opweave.codegen.model.parts import python_name
from opweave.codegen.model.variants import own_name

from . import plots, related

_HEADING = re.compile(r"^# -{4,} (.+?) -{4,}\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A part of ops.yaml between two headings, or several parts with the same heading."""

    title: str
    operators: list[Operator]

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def pages(entries: Path, examples: Path, folder: Path, environment: jinja2.Environment) -> Iterator[tuple[str, str]]:
    """Yield names of files and their text; plots are drawn into the folder."""
    operators = [each for each in inspect_op.own_operators() if not each.derived]
    sections = _sections(operators, entries)
    recorded = sessions.read(examples)
    called = related.calls(operators)
    callers = related.callers(called)
    titles = {operator.name: title(operator) for operator in operators}
    for section in sections:
        for operator in section.operators:
            page = environment.get_template("operator.md.j2").render(
                facts=_facts(operator, recorded),
                section=section,
                plot=plots.draw(operator, folder / "plots"),
                calls=[(titles[name], name) for name in called[operator.name]],
                callers=[(titles[name], name) for name in callers.get(operator.name, ())],
            )
            yield f"{operator.name}.md", page
        lines = [(each.name, titles[each.name], first_sentence(each), each.internal) for each in section.operators]
        yield (
            f"sections/{section.slug}.md",
            environment.get_template("section.md.j2").render(section=section, lines=lines),
        )
    page = environment.get_template("index.md.j2").render(sections=sections, count=len(operators))
    yield "sections/index.md", page


def _sections(operators: Sequence[Operator], entries: Path) -> list[Section]:
    """The operators by the headings of ops.yaml, in its order."""
    text = entries.read_text("utf-8")
    headings = [(text.count("\n", 0, found.start()) + 1, found[1]) for found in _HEADING.finditer(text)]
    sections: dict[str, Section] = {}
    for operator in operators:
        name = [each for line, each in headings if line < operator.span.line][-1]
        sections.setdefault(name, Section(name[0].upper() + name[1:], [])).operators.append(operator)
    return list(sections.values())


def title(operator: Operator) -> str:
    """Return the name by which a program calls the operator."""
    if operator.function or operator.internal:
        return f"{operator.module}.{own_name(operator)}" if operator.module else operator.name
    return f"Tensor.{operator.property_name or operator.name}"


def first_sentence(operator: Operator) -> str:
    """The first sentence of what the operator means."""
    text = results.meaning(operator)
    return re.split(r"(?<=[.]) (?=[A-Z`])", text)[0]


def _facts(operator: Operator, recorded: Mapping[str, str]) -> dict[str, Any]:
    """What a page says of one operator, apart from others."""
    row = rules.facts(operator)
    return {
        "name": operator.name,
        "title": title(operator),
        "meaning": results.meaning(operator),
        "internal": operator.internal,
        "signatures": "" if operator.internal else inspect_op.signatures(inspect_op.Known("opweave", operator)),
        "schema": str(operator.schema),
        "equations": typeset.equations(operator),
        "operand": next((python_name(each.name) for each in operator.schema.arguments if each.name == "self"), None),
        "arguments": [] if operator.internal else [_argument(line) for line in arguments.arguments(operator)],
        "result": results.result(operator),
        "errors": results.errors(operator),
        "spellings": docstrings.spellings(operator),
        "example": docstrings.example(operator, "opweave", recorded),
        "gradients": typeset.gradients(operator),
        "dtypes": results.named(operator.dtypes),
        "rule": row.rule,
        "reason": row.reason,
        "naming": rules.naming(operator),
        "combine": row.combine,
        "effects": [word for word in ("random", "data_dependent", "dynamic_shape") if getattr(row, word)],
        "writes": row.writes,
        "aliases": row.aliases,
        "torch": [] if operator.internal else related.in_torch(operator),
        "numpy": related.in_numpy(operator),
        "loops": loops.nest(operator),
        "loops_dtype": loops.dtype_of(operator),
        "entry": operator.text.rstrip(),
        "c": (kernels.emit(operator) or "").rstrip(),
    }


def _argument(line: str) -> tuple[str, str]:
    name, _, rest = line.partition(" ")
    return name, rest
