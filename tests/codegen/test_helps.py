"""What messages say to do, and that what is shown of endless texts has an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.emit import text as emitted_text
from codegen.errors import CodegenError, Diagnostic, render


def mistakes(tmp_path: Path, text: str) -> list[Diagnostic]:
    path = tmp_path / "ops.yaml"
    path.write_text(text)
    with pytest.raises(CodegenError) as caught:
        library.read(path, str(path))
    return caught.value.diagnostics


def entry(body: str, func: str = "f(Tensor self) -> Tensor", more: str = "") -> str:
    return f"- func: {func}\n  doc: Doc.\n  {body}\n  derivatives: none\n{more}"


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (
            "- func: f(Tensor self) -> Tensor\n  doc: Doc.\n   elementwise: self\n",
            "the line is indented deeper than the keys above it: begin it where they begin",
        ),
        (
            "- func: f(Tensor self) -> Tensor\n  doc: this: that\n",
            "a text with ': ' in it needs quotes, or a block scalar ('key: |')",
        ),
        (
            entry("compute:\n    value[x]: self[x + 1]\n    outside: nearest"),
            "size: {x: self.size(-1)}",
        ),
        (
            entry("compute:\n    value[x]: self[x + 1]\n    size: {x: 3}\n    outside: edge"),
            "it is called 'nearest' here",
        ),
        (entry("elementwise: {self + 1}"), "braces make a mapping: write the expression without them"),
        (
            entry("elementwise: y = self"),
            "names of parts are given by 'let': {let: {square: self * self}, value: 1 + square}",
        ),
        (entry("elementwise: return self"), "an expression is the result: leave the word out"),
        (entry("elementwise: self ^ 2", more="  dtypes: floating\n"), "a power is written '**'"),
        (
            entry(
                f"elementwise: {' + '.join('abcdefghi')}",
                f"f({', '.join(f'Tensor {a}' for a in 'abcdefghi')}) -> Tensor",
            ),
            "a composite takes any number, and can call two operators",
        ),
    ],
)
def test_help(tmp_path: Path, text: str, help: str) -> None:
    assert [each.help for each in mistakes(tmp_path, text)] == [help]


WORDS = {
    "silu(self[y])": "write x * sigmoid(x)",
    "gelu(self[y])": "write 0.5 * x * erfc(-x * sqrt(0.5))",
    "average(self[y, x] for x in range(3))": "it is sum(value for i in range(n)) / n, and {mean: value} of places",
    "norm(self[y, x] for x in range(3))": "it is sqrt(sum(value ** 2 for i in range(n)))",
    "count(self[y, x] > 0 for x in range(3))": "it is sum(condition for i in range(n))",
    "median(self[y, x] for x in range(3))": "rows have an order, by the keys 'rows' and 'sorted'",
    "product(self[y, x] for x in range(3))": "it is called 'prod' here",
    "frobnicate(self[y, x] for x in range(3))": "reductions: sum, prod, max, min, any, all, argmax, argmin",
    "sum(self[x] for x in range(0, 6, 2))": "range(first, stop) has no step: multiply, x[2 * i] for i in range(n // 2)",
}


def test_words_of_other_languages_have_one_answer(tmp_path: Path) -> None:
    for text, help in WORDS.items():
        assert [each.help for each in mistakes(tmp_path, entry(f"compute:\n    value[y]: {text}"))] == [help], text


def test_formulas_that_messages_give_are_right(tmp_path: Path) -> None:
    for name in ("silu", "gelu", "leaky_relu", "elu", "mish", "heaviside", "logit"):
        (mistake,) = mistakes(tmp_path, entry(f"elementwise: {name}(self)"))
        assert mistake.help is not None
        formula = mistake.help.removeprefix("write ")
        (tmp_path / "ops.yaml").write_text(
            entry(f"elementwise: {formula}", "f(Tensor x) -> Tensor", "  dtypes: floating\n")
        )
        library.read(tmp_path / "ops.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "[" * 5000 + "]" * 5000,
        "\0" * 10_000,
        entry("elementwise: " + "<".join(["self"] * 3000)),
        entry("elementwise: " + "self < (" * 60 + " and ".join(["self"] * 79) + ")" * 60),
        entry("elementwise: self + " + "9" * 5000),
        entry("elementwise: self + " + "9" * 4000),
        entry("elementwise: self", "f(Tensor self, Scalar a=" + "9" * 5000 + ") -> Tensor"),
        entry("elementwise: self", "f(Tensor self, int[] a=" + "[" * 5000 + ") -> Tensor"),
        entry("elementwise: self", "f(Tensor self, " + ", ".join(f"Tensor a{i}" for i in range(50)) + ") -> Tensor"),
        entry(
            "elementwise: self + a", "f(Tensor self, Scalar? a=None) -> Tensor", f"  none_means: {{a: {'9' * 5000}}}\n"
        ),
        entry("elementwise: self", more="  cost: " + "9" * 5000 + "\n"),
        entry("composite: return " + "(" * 5000),
    ],
)
def test_hostile_texts_end_in_short_messages(tmp_path: Path, text: str) -> None:
    """And soon: parsers of YAML take time in the square of the depth."""
    shown = render(mistakes(tmp_path, text))
    assert len(shown) < 40_000
    assert max(map(len, shown.splitlines())) < 700


def test_what_is_no_python_is_not_looked_at_further(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- func: f(Tensor self, int dim) -> Tensor\n  doc: Doc.\n  scan: {identity: 0, combine: acc + self}\n"
        "  derivatives: {self: 'grad.flip(dim'}\n"
        "- func: g(Tensor self) -> Tensor\n  doc: Doc.\n  composite: return frob(self).item(\n"
    )
    provided = library.Provided((), (), ())
    with pytest.raises(CodegenError) as caught:
        library.read(path, "ops.yaml", provided=provided)
    assert [each.message for each in caught.value.diagnostics] == ["not Python: '(' was never closed"] * 2


@pytest.mark.parametrize(
    ("word", "help"),
    [
        *dict.fromkeys([(word, "it is called 'reflect' here") for word in ("mirror", "reflect_101", "Reflect101")]),
        *[(word, "it is called 'nearest' here") for word in ("edge", "replicate", "clamp", "border", "clip")],
        *[(word, "it is called 'wrap' here") for word in ("circular", "periodic", "torus", "cyclic", "grid-wrap")],
        *[(word, "it is called '0' here") for word in ("zeros", "zero", "constant", "zero-padding", "zero_padding")],
        *[(word, "it is called 'skip' here") for word in ("ignore", "drop", "none")],
        ("raise", "it is called 'error' here"),
        ("symmetric", "'reflect' leaves the border itself out; with it an index i is i if i >= 0 else -1 - i"),
        ("same", "0, nearest or another rule; how many positions there are says 'size'"),
        ("valid", "no rule: 'size' has as many positions as lie inside"),
    ],
)
def test_words_for_borders(word: str, help: str, tmp_path: Path) -> None:
    (found,) = mistakes(
        tmp_path, entry(f"compute:\n    value[x]: self[x + 1]\n    size: {{x: 3}}\n    outside: {word}")
    )
    assert (found.message, found.line, found.help) == (f"unknown rule '{word}'", 6, help)


@pytest.mark.parametrize(("call", "part"), [("rand(self[0], x)", "self[0]"), ("randn(0, x * 0.5)", "x * 0.5")])
def test_keys_and_positions_of_random_numbers(call: str, part: str, tmp_path: Path) -> None:
    line = f"    value[x]: self[x] + {call}"
    (found,) = mistakes(tmp_path, entry(f"compute:\n    size: {{x: 3}}\n{line}", more="  dtypes: floating\n"))
    assert found.message == "a random number of float64: its key and its positions are integers"
    assert found.help == "int(x) drops the fraction, int(floor(x)) rounds down"
    assert (found.line, found.column, found.length) == (5, line.index(part) + 1, len(part))


def test_long_lines_are_shown_around_the_mistake() -> None:
    line = "x" * 5000 + "wrong" + "y" * 5000
    shown = render([Diagnostic("f", 1, 5001, "message", None, 5)], {"f": [line]}).splitlines()
    assert len(shown[1]) < 180
    column = shown[2].index("^")
    assert shown[2][column:] == "^^^^^"
    assert shown[1][column : column + 5] == "wrong"


def test_templates_have_no_cache_in_a_folder_that_others_can_write_to() -> None:
    assert emitted_text._environment().bytecode_cache is None
