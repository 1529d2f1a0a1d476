"""A family in one module: it is read, checked, printed in C, shown, documented and typed as those of codegen are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codegen import emit, library
from codegen.docs.docstrings import docstring
from codegen.dtypes import INT64, DType
from codegen.emit import kernels, loops
from codegen.errors import CodegenError, Diagnostics
from codegen.expr import parse
from codegen.expr.kernel_text import emit_expression
from codegen.expr.lower import Env
from codegen.model.body import Body
from codegen.model.family import FAMILIES, Family
from codegen.model.operator import Declaration, Expression, Operator
from codegen.model.rules import facts
from codegen.nest import people
from codegen.nest.nodes import Axis, Load, Map, Node, Store
from codegen.nest.of import NESTS
from codegen.read import bodies, following
from codegen.read.adjoints import AUTO
from codegen.read.bodies.shared import expression_field
from codegen.read.fields import Entry
from codegen.source import Mapping

ALTERNATE = Family("alternate", table="ow_elementwise_table", rule="keep", takes_reals=True)


@dataclass(frozen=True)
class Alternate(Body):
    """Elements at even positions as they are, and `odd` of the others."""

    family = ALTERNATE

    odd: Expression

    def variable_dtypes(self, operator: Declaration, dtype: DType) -> dict[str, DType]:
        return dict.fromkeys((each.name for each in (*operator.inputs, *operator.params)), dtype)

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        yield self.odd, self.variable_dtypes(operator, dtype), dtype

    def formula(self, names: tuple[str, ...]) -> str:
        return f"`{self.odd.source.value}` of every second element"

    def shape_text(self, operator: Operator) -> str | None:
        return "the input's shape"


def read(entry: Entry, node: Mapping) -> Alternate | None:
    entry.known_keys(node, ("odd",), where="alternate")
    odd = expression_field(entry, node, "odd", tuple(each.name for each in entry.schema.arguments))
    return None if odd is None else Alternate(odd)


def loop(operator: Operator, body: Alternate, dtype: DType) -> Iterator[Node]:
    odd = emit_expression(body.odd.tree, body.variable_dtypes(operator, dtype), dtype)
    choice = emit_expression(parse("odd if i & 1 else self"), {"i": INT64, "odd": dtype, "self": dtype}, dtype)
    loads = Load("self", "self[i]"), Map("odd", dtype.c_type, odd, constant=True)
    yield Axis("i", "count", (*loads, Store(("result[i]",), choice)))


def file(operator: Operator, body: Alternate, output: str, context: kernels.Context) -> str:
    lines = (line for dtype in operator.compute_dtypes for line in people.lines(loop(operator, body, dtype)))
    return "\n".join((f"/* {output} */", *lines))


def gradient(operator: Operator, body: Alternate, diagnostics: Diagnostics) -> list[Operator]:
    """That of an operator which is linear, as the tests have it: elements of `grad`, changed in the same way."""
    call = f"{operator.name}({', '.join(['grad', *(each.name for each in operator.params)])})"
    formulas = {name: replace(each, text=call) for name, each in operator.derivatives.items() if each.text == AUTO}
    return [replace(operator, derivatives={**operator.derivatives, **formulas})]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "alternate", ALTERNATE)
    monkeypatch.setitem(bodies.READERS, ALTERNATE, bodies.mapping(read, "alternate: {odd: -self}"))
    monkeypatch.setitem(following.GRADIENTS, ALTERNATE, (gradient,))
    monkeypatch.setitem(kernels.FILES, ALTERNATE, file)
    monkeypatch.setitem(NESTS, ALTERNATE, loop)


ENTRY = """\
- func: flip_signs(Tensor self, float scale=2.0) -> Tensor
  doc: Changes every second element.
  alternate: {odd: -self * scale}
  dtypes: floating
  derivatives: auto
"""


def operators(folder: Path, entry: str = ENTRY) -> tuple[Operator, ...]:
    path = folder / "ops.yaml"
    path.write_text(entry)
    return library.read(path, "ops.yaml")


def test_it_is_read(tmp_path: Path) -> None:
    (operator,) = operators(tmp_path)
    assert operator.family is ALTERNATE
    assert operator.body_of(Alternate).odd.source.value == "-self * scale"
    assert [each.name for each in operator.params] == ["scale"]


@pytest.mark.parametrize(
    ("wrong", "line", "message"),
    [
        ("{odd: -self * scael}", 3, "unknown name 'scael'"),
        ("{even: self}", 3, "unknown key 'even' of 'alternate'"),
        ("-self", 3, "'alternate' must be a mapping"),
        ("{odd: self & 1}", 3, "'&' needs integers or bool, but 'self' is float32"),
    ],
)
def test_mistakes_have_their_places(tmp_path: Path, wrong: str, line: int, message: str) -> None:
    with pytest.raises(CodegenError) as caught:
        operators(tmp_path, ENTRY.replace("{odd: -self * scale}", wrong))
    assert (line, message) in [(each.line, each.message) for each in caught.value.diagnostics]


def test_its_c_is_printed_and_shown(tmp_path: Path) -> None:
    (operator,) = operators(tmp_path)
    text = kernels.emit(operator)
    assert text is not None
    assert text.count("for (int64_t i") == len(operator.compute_dtypes)
    shown = loops.nest(operator)
    assert shown is not None
    assert "? odd : self[i];" in shown


def test_everything_is_generated_for_it(tmp_path: Path) -> None:
    files = emit.outputs(operators(tmp_path), "ops.yaml")
    assert "/* flip_signs.c */" in files["kernels/flip_signs.c"]
    assert "def flip_signs(input: Tensor, scale: float = 2.0" in files["python/_operators.pyi"]
    assert "'alternate', 'tn'" in files["python/_operators.py"]
    assert "flip_signs(grad, scale)" in files["python/_derivatives.py"]
    assert '"alternate"' in files["include/ow_routines.h"]


def test_it_is_documented_and_has_a_rule(tmp_path: Path) -> None:
    (operator,) = operators(tmp_path)
    text = docstring(operator, "opweave", {})
    assert "Formula: `-self * scale` of every second element" in text
    assert "Tensor of the input's shape; dtype: that of the input." in text
    assert facts(operator).rule == "keep"
