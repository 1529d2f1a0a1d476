"""No name of an argument can meet a name that the templates use: what they use is read from what they generate."""

from __future__ import annotations

import ast
import re

import pytest

from codegen import emit, library
from codegen.expr.geometry import BASE_SCOPE
from codegen.model.operator import Family, Operator
from codegen.read.reserved import argument_reason, operator_reason

# Arguments whose meaning is in their names, and those of this test.
_ARGUMENTS = frozenset({"dim", "dtype", "input", "keepdim", "more", "requires_grad", "self", "yak", "zebra", "zebus"})
_ENTRIES = """
- func: gnu(Tensor zebra, Tensor yak, Scalar zebus=1) -> Tensor
  doc: Every layout of two inputs, and a parameter.
  elementwise: zebra * yak + zebus
  derivatives: none
- func: gnus(Tensor zebra, Tensor yak) -> Tensor
  doc: With errors.
  elementwise: zebra // yak
  dtypes: int32
- func: gnuss(Tensor zebra) -> Tensor
  doc: With padding.
  elementwise: exp(zebra)
  dtypes: floating
  derivatives: none
- func: gnusss(Tensor(a) self, int[] zebra, int yak) -> Tensor(a)
  doc: A view.
  view: {shape: zebra, strides: 'replace(strides, yak, 0)', offset: yak}
  derivatives: none
- func: gnussss(int[] zebra, Scalar zebus, *, ScalarType? dtype=None) -> Tensor
  doc: A factory.
  factory: {shape: zebra, value: zebus + i}
- func: gnufactory(int[] zebra, Scalar zebus, *, ScalarType? dtype=None) -> Tensor
  doc: A factory that Python finishes.
  dtypes: any
  factory: {let: {zebra: zebus}, shape: zebra, fill: result.yak(zebus)}
- func: gnusssss(Tensor(a) self, int[] yak) -> Tensor(a)
  doc: A view of a list.
  view: {shape: yak, strides: strides}
  derivatives: none
"""
_NOISE = re.compile(r'/\*.*?\*/|"[^"]*"|^#.*?$|\.\w+|->\w+|\(\w+ ?\*?\)', re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> tuple[Operator, ...]:
    path = tmp_path_factory.mktemp("reserved") / "ops.yaml"
    path.write_text(_ENTRIES)
    return library.read(path, "ops.yaml")


@pytest.fixture(scope="module")
def files(operators: tuple[Operator, ...]) -> dict[str, str]:
    return emit.outputs(operators, "ops.yaml")


def test_names_in_c_are_those_of_arguments_only_with_their_prefix(
    operators: tuple[Operator, ...], files: dict[str, str]
) -> None:
    language = {"i", *BASE_SCOPE}  # what expressions call besides arguments
    for operator in operators:
        # The bodies of functions; what is outside them is out of an argument's reach.
        bodies = re.findall(r"\) \{\n(.*?)^\}", files[f"kernels/{operator.name}.c"], re.DOTALL | re.MULTILINE)
        assert bodies or operator.name == "gnufactory"  # which computes nothing by itself
        words = {word for body in bodies for word in _WORD.findall(_NOISE.sub(" ", body))}
        arguments = {argument.name for argument in operator.schema.arguments}
        assert arguments & words == set(), operator.name
        assert {word.removeprefix("v_") for word in words if word.startswith("v_")} <= arguments | language


def test_names_in_python_are_reserved(files: dict[str, str]) -> None:
    """Of bodies that the generator writes; those of composites are the declaration's own."""
    module = ast.parse(files["python/_operators.py"]).body
    bodies = {node.name: node for node in module if isinstance(node, ast.FunctionDef)}
    assert list(bodies) == ["_gnufactory_body"]
    used = {node.id for node in ast.walk(bodies["_gnufactory_body"]) if isinstance(node, ast.Name)}
    used |= {argument.arg for argument in ast.walk(bodies["_gnufactory_body"]) if isinstance(argument, ast.arg)}
    assert {word for word in used - _ARGUMENTS if argument_reason(word, Family.FACTORY) is None} == set()


def test_names_of_the_python_module_are_reserved(files: dict[str, str]) -> None:
    """A function must not replace what the module uses once all functions are in it."""
    lines = files["python/_operators.py"].splitlines()
    later = ast.parse("\n".join(lines[lines.index("_operators.finish()") + 1 :]))
    names = {node.id for node in ast.walk(later) if isinstance(node, ast.Name)}
    assert names > {"METHODS", "FUNCTIONS"}
    assert {name for name in names if operator_reason(name) is None} == set()


@pytest.mark.parametrize(
    ("name", "family", "reason"),
    [
        ("from", Family.COMPOSITE, "is a Python keyword"),
        ("_x", Family.COMPOSITE, None),
        ("_x", Family.ELEMENTWISE, "starts with '_', as names of generated code do"),
        ("pi", Family.ELEMENTWISE, "is a constant of expressions"),
        ("pi", Family.COMPOSITE, None),
        ("nan", Family.ELEMENTWISE, None),
        ("grad", Family.COMPOSITE, "is the gradient of the result in formulas of derivatives"),
        ("out", Family.ELEMENTWISE, "is where a function is told to write its result"),
        ("i", Family.FACTORY, "is the position of an element in expressions"),
        ("i", Family.ELEMENTWISE, None),
        ("count", Family.ROWS, "is the length of a row in expressions"),
        ("count", Family.ELEMENTWISE, None),
        ("double", Family.EXTERN, None),
        ("linux", Family.ELEMENTWISE, None),
        ("M_PI", Family.ELEMENTWISE, None),
        ("expf", Family.ELEMENTWISE, None),
        ("type", Family.VIEW, None),
        ("h", Family.INDEXING, None),
        ("t0", Family.ELEMENTWISE, None),
    ],
)
def test_reasons(name: str, family: Family, reason: str | None) -> None:
    assert argument_reason(name, family) == reason
