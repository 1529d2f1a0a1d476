"""What an entry becomes: the model's facts, derivatives included, and what the catalogue says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen import library
from codegen.docs.arguments import arguments
from codegen.dtypes import DTYPE_CLASSES, DTYPES, Promotion
from codegen.emit import catalog, stubs
from codegen.emit.composites import composite_body
from codegen.errors import CodegenError
from codegen.expr import check_derivative, parse
from codegen.model.operator import Composite, Elementwise, Factory, Family, Operator, View
from codegen.model.variants import function_names, has_inplace, has_out, method_names, submodule_names
from codegen.read.copies import DERIVED
from codegen.source import Scalar, parse_text

GOLDEN = Path(__file__).parent / "golden" / "ops.yaml"


def read(folder: Path, text: str) -> tuple[Operator, ...]:
    path = folder / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    return library.read(path, "ops.yaml")


def elementwise(expression: str, rest: str, func: str = "f(Tensor self) -> Tensor") -> str:
    return f"- func: {func}\n  doc: Doc.\n  elementwise: {expression}\n{rest}"


# ---- derivatives --------------------------------------------------------------------------------------------

AUTOMATIC = [
    ("-self", "f(Tensor self) -> Tensor", {"self": "-grad"}),
    ("self * other", "f(Tensor self, Tensor other) -> Tensor", {"self": "grad * other", "other": "grad * self"}),
    ("exp(self)", "f(Tensor self) -> Tensor", {"self": "grad * exp(self)"}),
    ("self * self", "f(Tensor self) -> Tensor", {"self": "grad * 2 * self"}),
    ("self * alpha", "f(Tensor self, *, Scalar alpha=2) -> Tensor", {"self": "grad * alpha"}),
    ("floor(self)", "f(Tensor self) -> Tensor", {"self": "0"}),
    ("1 / (1 + exp(-self))", "f(Tensor self) -> Tensor", {"self": "grad * sigmoid(self) * (1 - sigmoid(self))"}),
]


@pytest.mark.parametrize(("expression", "func", "formulas"), AUTOMATIC, ids=lambda value: str(value))
def test_automatic_derivatives(tmp_path: Path, expression: str, func: str, formulas: dict[str, str]) -> None:
    """The kept formulas compute what the known ones compute."""
    (operator,) = read(tmp_path, elementwise(expression, "  dtypes: floating\n  derivatives: auto\n", func))
    assert set(operator.derivatives) == set(formulas)
    for name, formula in formulas.items():
        derivative = operator.derivatives[name]
        assert derivative.text == "auto"
        assert derivative.tree is not None
        assert derivative.formula == str(derivative.tree)
        assert check_derivative(parse(expression), name, derivative.tree) is None
        assert check_derivative(parse(expression), name, parse(formula)) is None


def test_automatic_for_one_argument(tmp_path: Path) -> None:
    rest = "  dtypes: floating\n  derivatives: {self: auto, other: none}\n"
    (operator,) = read(tmp_path, elementwise("self - 3 * other", rest, "f(Tensor self, Tensor other) -> Tensor"))
    assert {name: derivative.formula for name, derivative in operator.derivatives.items()} == {
        "self": "grad",
        "other": None,
    }


def test_fixed_inputs_have_no_derivative(tmp_path: Path) -> None:
    rest = "  derivatives: auto\n"
    (operator,) = read(tmp_path, elementwise("self if mask else 0", rest, "f(Tensor mask, Tensor self) -> Tensor"))
    assert {name: d.formula for name, d in operator.derivatives.items()} == {"self": "grad if mask else 0"}


def test_the_floating_expression_is_differentiated(tmp_path: Path) -> None:
    cases = "{bool: self, integer: self * 2, floating: self * 3}"
    (operator,) = read(tmp_path, elementwise(cases, "  derivatives: auto\n"))
    formula = operator.derivatives["self"].tree
    assert formula is not None
    assert check_derivative(parse("self * 3"), "self", formula) is None


def test_declared_formulas_may_use_the_result(tmp_path: Path) -> None:
    rest = "  dtypes: floating\n  derivatives:\n    self: grad * result\n"
    (operator,) = read(tmp_path, elementwise("exp(self)", rest))
    assert operator.derivatives["self"].formula == "grad * result"


def test_a_function_without_a_known_derivative_can_have_a_formula(tmp_path: Path) -> None:
    rest = "  dtypes: floating\n  derivatives:\n    self: grad * digamma(self)\n"
    (operator,) = read(tmp_path, elementwise("lgamma(self)", rest))
    assert operator.derivatives["self"].formula == "grad * digamma(self)"


@pytest.mark.parametrize(
    "text",
    [
        elementwise("self & other", "  dtypes: integer\n", "f(Tensor self, Tensor other) -> Tensor"),
        elementwise("self < 1", ""),
        elementwise("{integer: ~self, bool: ~self}", ""),
        "- func: f(Tensor self) -> Tensor\n  doc: Doc.\n  composite: return self\n",
        elementwise("self if mask else 0", "  derivatives: {self: auto}\n",
                    "f(Tensor mask, Tensor self) -> Tensor"),
    ],
)  # fmt: skip
def test_where_no_derivative_is_needed(tmp_path: Path, text: str) -> None:
    assert len(read(tmp_path, text)) == 1


# ---- facts --------------------------------------------------------------------------------------------------


def test_defaults(tmp_path: Path) -> None:
    (operator,) = read(tmp_path, elementwise("-self", "  derivatives: none\n"))
    assert (operator.name, operator.family, operator.promotion) == ("f", Family.ELEMENTWISE, Promotion.DEFAULT)
    assert operator.dtypes == DTYPE_CLASSES["any"]
    assert (operator.method, operator.function, operator.cost) == (True, True, 1.0)
    assert (operator.operator, operator.aliases, operator.reference, operator.refusal) == (None, (), None, None)


def test_meanings_of_arguments_stand_in_the_docstring(tmp_path: Path) -> None:
    rest = "  args: {beta: factor of the elements, k: 'values, from 1 on'}\n  unused: [k]\n  derivatives: none\n"
    schema = "f(Tensor self, *, Scalar beta=1, int k=1, Scalar eps=0) -> Tensor"
    (operator,) = read(tmp_path, elementwise("self * beta + eps", rest, schema))
    lines = dict(line.split(" ", 1) for line in arguments(operator))
    assert lines["beta"] == "(number, optional): factor of the elements."
    assert lines["k"] == "(int, optional): values, from 1 on."
    assert lines["eps"] == "(number, optional): number that keeps divisors and logarithms from zero."
    assert lines["input"] == "(Tensor): of any shape."


@pytest.mark.parametrize(
    ("expression", "rest", "promotion"),
    [
        ("self + 1", "", "default"),
        ("self + 1.5", "", "int_to_float"),
        ("exp(self)", "", "int_to_float"),
        ("exp(self)", "  dtypes: floating\n", "default"),
        ("exp(self)", "  promotion: to_double\n", "to_double"),
        ("self < 1", "", "always_bool"),
        ("{bool: self, numeric: self > 0}", "", "always_bool"),
        ("{bool: self, numeric: sqrt(self)}", "  dtypes: [bool, floating]\n", "default"),
        ("{integer: self // 2, floating: self / 2}", "  dtypes: numeric\n", "default"),
        ("{floating: self / 2}", "  promotion: int_to_float\n", "int_to_float"),
    ],
)
def test_the_promotion_follows_from_the_expression(tmp_path: Path, expression: str, rest: str, promotion: str) -> None:
    (operator,) = read(tmp_path, elementwise(expression, f"{rest}  derivatives: none\n"))
    assert operator.promotion.value == promotion


@pytest.mark.parametrize(
    ("expression", "rest", "accepted"),
    [
        ("exp(self)", "  derivatives: auto\n", "any"),
        ("erf(self)", "  derivatives: auto\n", "all"),  # not defined for complex numbers
        ("maximum(self, 0)", "  derivatives: none\n", "all"),
        ("1 / (1 + abs(self))", "  derivatives: none\n", "any"),
        ("1 / (1 + abs(self))", "  derivatives: auto\n", "all"),  # and has no complex derivative
        ("1 / (1 + abs(self))", "  derivatives: {self: {real: auto, complex: -grad * self}}\n", "any"),
        ("where(abs(self) < 1, self, 0)", "  derivatives: auto\n", "any"),
        ("{floating: self * 2, complex: self}", "  derivatives: auto\n", "any"),
        ("{floating: self * 2, integer: self}", "  derivatives: auto\n", "all"),
        ("self * 2", "  derivatives: auto\n  dtypes: all\n", "all"),
    ],
)
def test_complex_numbers_are_accepted_where_the_expression_takes_them(
    tmp_path: Path, expression: str, rest: str, accepted: str
) -> None:
    (operator,) = read(tmp_path, elementwise(expression, rest))
    assert operator.dtypes == DTYPE_CLASSES[accepted]


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("self * 2 + 1", 1),
        ("exp(self) + 1", 4),
        ("exp(self) * exp(self)", 4),  # computed once
        ("log1p(exp(self))", 8),
        ("{integer: self, floating: erfinv(self)}", 20),
    ],
)
def test_the_cost_is_that_of_the_functions(tmp_path: Path, expression: str, cost: int) -> None:
    (operator,) = read(tmp_path, elementwise(expression, "  dtypes: numeric\n  derivatives: none\n"))
    assert operator.cost == cost


def test_requirements_of_composites_come_before_the_body(tmp_path: Path) -> None:
    (operator,) = read(
        tmp_path,
        '- func: halve(Tensor self, int dim, str mode="a") -> Tensor\n  doc: Doc.\n  require:\n'
        "    - {check: not dim, error: ValueError, message: '{name}() takes no \"dim\"'}\n"
        "    - check: dim >= 0 and mode in ('a', 'b')\n      message: 'got {{{mode}}} for {self.size(dim)}'\n"
        "    - check: check_matrix('halve', self)\n"
        "    - {check: self.ndim, message: 'not {{}}'}\n"
        "  composite: return self.select(0, 0)\n",
    )
    assert isinstance(operator.body, Composite)
    assert composite_body(operator.body).split("\n") == [
        "if dim:",
        '    raise ValueError("halve() takes no \\"dim\\"")',
        "if not (dim >= 0 and mode in ('a', 'b')):",
        '    raise RuntimeError(f"got {{{mode}}} for {self.size(dim)}")',
        "check_matrix('halve', self)",
        "if not self.ndim:",
        '    raise RuntimeError("not {}")',
        "return self.select(0, 0)",
    ]


def test_an_entry_takes_what_it_does_not_say_of_another(tmp_path: Path) -> None:
    base = (
        "- func: f.int(Tensor self, int dim, *, Scalar eps=0) -> Tensor\n  doc: First.\n  cost: 7\n  aliases: [g]\n"
        "  rows:\n    let: {top: {max: self}, scale: top + eps}\n    value: self - scale\n"
        "  dtypes: float32\n  derivatives: {self: grad}\n"
    )
    twin = (
        "- func: h(Tensor self, int dim, *, Scalar eps=1) -> Tensor\n  like: f\n  rows: {let: {scale: top * eps}}\n"
        "  dtypes: ~\n  derivatives: none\n"
    )
    second = "- func: k(Tensor self, int dim, *, Scalar eps=2) -> Tensor\n  like: h\n  doc: Second.\n"
    f, h, k = read(tmp_path, second + twin + base)[::-1]
    assert (f.aliases, h.aliases, k.aliases) == (("g",), (), ())
    assert (h.doc, h.cost, k.doc, k.cost) == ("First.", 7.0, "Second.", 7.0)
    assert (len(f.dtypes), h.dtypes, k.dtypes) == (1, DTYPE_CLASSES["all"], DTYPE_CLASSES["all"])
    assert [str(each.expression.tree) for each in f.body.lets] == ["self", "top + eps"]
    assert [str(each.expression.tree) for each in h.body.lets] == ["self", "top * eps"]
    assert (str(h.body.outputs[0][1].tree), k.body) == ("self - scale", h.body)
    assert (f.derivatives["self"].text, k.derivatives["self"].text) == ("grad", "none")
    assert k.text == (
        "- func: k(Tensor self, int dim, *, Scalar eps=2) -> Tensor\n  like: h\n  doc: Second.\n  cost: 7\n"
        "  rows:\n    let:\n      top:\n        max: self\n      scale: top * eps\n    value: self - scale\n"
        "  derivatives: none"
    )


def test_keys_are_read(tmp_path: Path) -> None:
    rest = (
        "  operator: neg\n  aliases: g\n  dtypes: [half, bool]\n  cost: 2.5\n"
        "  promotion: [same_dtype, rounded_numbers]\n  variants: method\n  dtype_error: No.\n"
        "  reference: np.negative\n  derivatives: none\n"
    )
    (operator,) = read(tmp_path, elementwise("-self", rest))
    assert (operator.operator, operator.aliases, operator.tags) == ("neg", ("g",), ("same_dtype", "rounded_numbers"))
    assert {dtype.name for dtype in operator.dtypes} == {"bool", "float16", "bfloat16"}
    assert (operator.cost, operator.refusal, operator.reference) == (2.5, "No.", "np.negative")
    assert (operator.method, operator.function) == (True, False)
    assert [dtype.name for dtype in operator.compute_dtypes] == ["bool", "float32"]
    assert list(method_names(operator)) == ["f", "f_", "g", "g_", "__neg__"]


def test_a_property_is_neither_function_nor_method(tmp_path: Path) -> None:
    body = "  composite: return self.t()\n  variants: {property: R}\n"
    entry = f"- func: reversed(Tensor(a) self) -> Tensor(a)\n  doc: D.\n{body}"
    (operator,) = read(tmp_path, entry)
    assert (operator.property_name, operator.method, operator.function, operator.internal) == ("R", False, False, False)
    assert list(method_names(operator)) == []
    (stub,) = stubs.methods(operator)
    assert (stub.name, stub.signature, stub.result, stub.is_property) == ("R", "self", "Tensor", True)
    assert stubs.functions(operator) == []


def test_a_property_may_have_a_function_and_be_assigned_to(tmp_path: Path) -> None:
    body = "  composite: return self.t()\n  variants: {property: R, function: true, assignable: true}\n"
    entry = f"- func: reversed(Tensor(a) self) -> Tensor(a)\n  doc: D.\n{body}"
    (operator,) = read(tmp_path, entry)
    assert (operator.property_name, operator.assignable, operator.method, operator.function) == ("R", True, False, True)
    (stub,) = stubs.methods(operator)
    assert (stub.name, stub.is_property, stub.is_assignable) == ("R", True, True)
    assert [each.name for each in stubs.functions(operator)] == ["reversed"]


def test_a_view_that_is_copied_has_an_operator_that_copies(tmp_path: Path) -> None:
    entry = (
        "- func: first.int(Tensor(a) self, int n=1, *, bool b=False) -> Tensor(a)\n  doc: D. Returns shape (n).\n"
        "  routine: return part(self, n, b)\n  aliases: head\n  tags: [copied, inplace]\n  derivatives: none\n"
    )
    view, copy = read(tmp_path, entry)
    assert (view.name, view.tags, copy.name, copy.tags) == (
        "first",
        ("copied", "inplace"),
        "first_copy",
        ("out_exact", DERIVED),
    )
    assert str(copy.schema) == "first_copy.int(Tensor self, int n=1, *, bool b=False) -> Tensor"
    assert (copy.function, copy.method, copy.aliases, copy.derivatives) == (True, False, (), {})
    assert composite_body(copy.body) == "return first(self, n, b=b).clone(memory_format=contiguous_format)"
    assert copy.doc == "Copy of what `first` gives, in contiguous memory. Returns shape (n)."
    assert has_out(copy)
    assert not has_inplace(copy)


def test_a_method_needs_self_but_not_in_front(tmp_path: Path) -> None:
    rest = "  derivatives: none\n"
    (operator,) = read(tmp_path, elementwise("self if mask else 0", rest, "f(Tensor mask, Tensor self) -> Tensor"))
    assert operator.method
    assert not has_inplace(operator), "x.f_(mask) would have the dtype of the mask"


def test_the_text_of_an_entry_is_its_own(tmp_path: Path) -> None:
    """For lists that start at the margin and for those that are indented."""
    for margin in ("", "  "):
        lines = []
        for name in ("f", "g"):
            entry = elementwise("-self", "  derivatives: none\n\n", f"{name}(Tensor self) -> Tensor")
            lines += [margin + line if line else line for line in entry.split("\n")]
        first, second = read(tmp_path, "\n".join([*lines, f"{margin}# a comment"]))
        assert first.text.split("\n")[0] == f"{margin}- func: f(Tensor self) -> Tensor"
        assert first.text.endswith("derivatives: none")
        assert second.text.count("func:") == 1
        assert second.text.endswith("derivatives: none")


def test_bodies() -> None:
    operators = {operator.name: operator for operator in library.read(GOLDEN, "ops.yaml")}
    where, select, arange = (operators[name].body for name in ("where", "select", "arange"))
    assert isinstance(where, Elementwise)
    assert where.fixed == {"condition": DTYPES["bool"]}
    assert isinstance(select, View)
    (requirement,) = select.require
    assert requirement.error == "IndexError"
    assert [str(part) for part in requirement.message if isinstance(part, str)] == [
        "100 % wrong for a 0-dim tensor of shape ",
        " at ",
        ".",
    ]
    assert [name for name, _ in select.let] == ["place"]
    assert isinstance(arange, Factory)
    assert arange.let == (("start", "0 if end is None else start"), ("end", "start if end is None else end"))
    assert not has_out(operators["select"])


def test_no_name_is_lost_when_its_entry_is_wrong(tmp_path: Path) -> None:
    """A body that cannot be read does not hide that another entry has the same name."""
    good = elementwise("-self", "  derivatives: none\n")
    with pytest.raises(CodegenError) as caught:
        read(tmp_path, elementwise("-slef", "  derivatives: none\n") + good)
    assert [(d.line, d.column) for d in caught.value.diagnostics] == [(3, 17), (5, 9)]


# ---- parts of scalars ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["- a {b} c", "- 'it''s a {b} c'", "- >-\n  folded\n  a {b} c", "- |\n  x\n  a {b} c"])
def test_a_part_of_a_scalar_stands_where_it_stands_in_the_whole(text: str) -> None:
    (whole,) = parse_text(text, "f").root
    assert isinstance(whole, Scalar)
    start = whole.value.index("b} c")
    part = whole.part(start, start + 4)
    assert part.value == "b} c"
    for offset in range(5):
        assert part.locate(offset) == whole.locate(start + offset)
    assert part.span == whole.span_at(start, 4)
    assert part.part(3, 4).span_at(0) == whole.span_at(start + 3)


# ---- the catalogue ------------------------------------------------------------------------------------------


def test_the_catalogue_lists_every_operator() -> None:
    operators = library.read(GOLDEN, "ops.yaml")
    records = {record["name"]: record for record in json.loads(catalog.emit(operators))}
    assert list(records) == [operator.name for operator in operators]
    assert records["add"]["schema"] == "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert records["add"]["methods"] == ["add", "add_", "__add__", "__radd__", "__iadd__"]
    assert records["add"]["derivatives"] == {"self": "grad", "other": "grad * alpha"}
    assert records["neg"]["derivatives"] == {"self": "-grad"}
    assert records["cumsum"]["derivatives"] == {"self": None}
    assert records["where"]["dtypes"] == ["float32"]


@pytest.mark.parametrize(
    ("module", "name", "exported"),
    [
        ("fft", "fft_g", ("fft", "g")),
        ("fft", "g", ("fft", "g")),
        ("signal", "signal_g", ("signal.windows", "g")),
        ("special", "fft_g", ("special", "fft_g")),
    ],
)
def test_names_in_submodules(tmp_path: Path, module: str, name: str, exported: tuple[str, str]) -> None:
    """A name that begins with the word for its submodule goes without it there."""
    rest = f"  dtypes: floating\n  derivatives: none\n  python_module: {module}\n"
    (operator,) = read(tmp_path, elementwise("-self", rest, f"{name}(Tensor self) -> Tensor"))
    assert submodule_names(operator) == (exported,)
    assert function_names(operator) == ()
