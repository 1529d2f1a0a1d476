"""No name of an argument can meet a name that the templates use: what they use is read from what they generate."""

from __future__ import annotations

import ast
import re

import pytest

from codegen import emit, library
from codegen.expr.geometry import BASE_SCOPE
from codegen.model import Family, Operator
from codegen.reserved import argument_reason, operator_reason

# Arguments whose meaning is in their names, and those of this test.
_ARGUMENTS = frozenset({"dim", "dtype", "input", "keepdim", "self", "yak", "zebra", "zebus"})
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


def test_names_in_c_are_reserved(operators: tuple[Operator, ...], files: dict[str, str]) -> None:
    for operator in operators:
        # The bodies of functions; what is outside them is out of an argument's reach.
        bodies = re.findall(r"\) \{\n(.*?)^\}", files[f"kernels/{operator.name}.c"], re.DOTALL | re.MULTILINE)
        assert bodies or operator.family is Family.EXTERN
        words = {word for body in bodies for word in _WORD.findall(_NOISE.sub(" ", body))}
        words = {word for word in words if not word.startswith(operator.name)} - _ARGUMENTS
        # An argument of one of these names gets another one in the function.
        words -= set(BASE_SCOPE) if operator.family is Family.VIEW else set()
        free = {word for word in words if argument_reason(word, operator.family) is None and not word.isupper()}
        assert free == set(), operator.name


def test_names_in_python_are_reserved(operators: tuple[Operator, ...], files: dict[str, str]) -> None:
    functions = {
        node.name: node for node in ast.parse(files["python/_operators.py"]).body if isinstance(node, ast.FunctionDef)
    }
    for operator in operators:
        used = {node.id for node in ast.walk(functions[operator.name]) if isinstance(node, ast.Name)}
        used |= {argument.arg for argument in ast.walk(functions[operator.name]) if isinstance(argument, ast.arg)}
        free = {word for word in used - {*_ARGUMENTS, operator.name} if argument_reason(word, operator.family) is None}
        assert free == set(), operator.name


def test_names_of_the_python_module_are_reserved(files: dict[str, str]) -> None:
    """A function must not replace what the functions of the module call."""
    tree = ast.parse(files["python/_operators.py"])
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    local = {
        n.id for node in functions for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    local |= {n.arg for node in functions for n in ast.walk(node) if isinstance(n, ast.arg)}
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - local
    names -= {node.name for node in functions if node.name.startswith("gnu")}
    assert {name for name in names if operator_reason(name) is None} == set()


@pytest.mark.parametrize(
    ("name", "family", "reason"),
    [
        ("from", Family.COMPOSITE, "is a Python keyword"),
        ("double", Family.EXTERN, "is a C keyword"),
        ("double", Family.COMPOSITE, None),
        ("map", Family.COMPOSITE, "means something else in generated code"),
        ("index", Family.VIEW, None),
        ("index", Family.FACTORY, "means something else in generated code"),
        ("stride", Family.VIEW, None),
        ("shape", Family.VIEW, None),
        ("more", Family.VIEW, "means something else in generated code"),
        ("shape", Family.ELEMENTWISE, None),
        ("expf", Family.ELEMENTWISE, "is a function of C"),
        ("pi", Family.ELEMENTWISE, "is a constant of expressions"),
        ("grad", Family.COMPOSITE, "means something else in generated code"),
        ("t12", Family.ELEMENTWISE, "means something else in generated code"),
        ("tensor", Family.EXTERN, None),
        ("other", Family.ELEMENTWISE, None),
    ],
)
def test_reasons(name: str, family: Family, reason: str | None) -> None:
    assert argument_reason(name, family) == reason
