"""Diagnostics: their order, their rendering, and the suggestions for unknown names."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import CodegenError, Diagnostic, Diagnostics, Span, render, split_lines, suggest

LINES = [""] * 9 + ["  elementwise: self + alhpa * other"]
TYPO = Diagnostic(
    "ops.yaml",
    10,
    23,
    "unknown name 'alhpa' in elementwise",
    "did you mean 'alpha'? (self, other, alpha)",
    5,
)


def test_rendering_is_that_of_a_compiler() -> None:
    assert render([TYPO], {"ops.yaml": LINES}) == (
        "ops.yaml:10:23: error: unknown name 'alhpa' in elementwise\n"
        "   10 |   elementwise: self + alhpa * other\n"
        "      |                       ^^^^^\n"
        "      = help: did you mean 'alpha'? (self, other, alpha)"
    )


def test_rendering_sorts_and_drops_duplicates() -> None:
    first = Diagnostic("a.yaml", 2, 1, "first")
    later = Diagnostic("a.yaml", 11, 1, "later")
    text = render([later, first, later, Diagnostic("b.yaml", 1, 1, "other file")], {"a.yaml": [], "b.yaml": []})
    assert text.splitlines() == [
        "a.yaml:2:1: error: first",
        "a.yaml:11:1: error: later",
        "b.yaml:1:1: error: other file",
    ]


def caret_line(line: str, column: int, length: int) -> str:
    diagnostic = Diagnostic("f", 1, column, "m", None, length)
    return render([diagnostic], {"f": [line]}).split("\n")[2]


@pytest.mark.parametrize(
    ("line", "column", "length", "expected"),
    [
        ("abc", 1, 3, "      | ^^^"),
        ("abc", 2, 99, "      |  ^^"),
        ("abc", 4, 1, "      |    ^"),
        ("\tabc", 2, 2, "      | \t^^"),
        ("加 abc", 3, 1, "      |    ^"),
        ("加", 1, 1, "      | ^^"),
        ("e\u0301x", 3, 1, "      |  ^"),
    ],
)
def test_carets_stand_below_what_they_mark(line: str, column: int, length: int, expected: str) -> None:
    assert caret_line(line, column, length) == expected


def test_a_long_line_number_widens_the_margin() -> None:
    lines = ["x"] * 123456
    assert render([Diagnostic("f", 123456, 1, "m", "h")], {"f": lines}) == (
        "f:123456:1: error: m\n123456 | x\n       | ^\n       = help: h"
    )


def test_lines_not_given_are_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "ops.yaml"
    file.write_bytes(b"\xef\xbb\xbffirst\r\nsecond\r\n")
    assert "    2 | second\n      |  ^" in render([Diagnostic(str(file), 2, 2, "m")])


def test_places_that_do_not_exist_are_printed_without_a_line() -> None:
    assert render([Diagnostic("no/such/file", 3, 1, "m", "h")]) == "no/such/file:3:1: error: m\n      = help: h"
    assert render([Diagnostic("f", 0, 0, "cannot read the file")], {"f": ["x"]}) == "f: error: cannot read the file"


def test_help_of_several_lines_is_aligned() -> None:
    text = render([Diagnostic("f", 1, 1, "m", "one\ntwo")], {"f": []})
    assert text.split("\n")[1:] == ["      = help: one", "              two"]


def test_diagnostics_are_ordered_with_and_without_help() -> None:
    without = Diagnostic("f", 1, 1, "m")
    with_help = Diagnostic("f", 1, 1, "m", "h")
    assert without < with_help
    assert with_help > without
    assert without <= without
    assert sorted([with_help, without]) == [without, with_help]


def test_a_collector_is_true_when_it_holds_something() -> None:
    diagnostics = Diagnostics()
    assert not diagnostics
    assert len(diagnostics) == 0
    diagnostics.raise_if_any()
    diagnostics.report(Span("f", 2, 3, 4), "m", "h")
    diagnostics.add(Diagnostic("f", 1, 1, "earlier"))
    diagnostics.extend([Diagnostic("f", 2, 3, "m", "h", 4)])
    assert diagnostics
    assert len(diagnostics) == 2
    assert list(diagnostics) == [Diagnostic("f", 1, 1, "earlier"), Diagnostic("f", 2, 3, "m", "h", 4)]
    with pytest.raises(CodegenError) as raised:
        diagnostics.raise_if_any()
    assert raised.value.diagnostics == diagnostics.sorted()
    assert str(raised.value) == "f:1:1: error: earlier\nf:2:3: error: m"


def test_suggestions() -> None:
    assert suggest("alhpa", ["self", "other", "alpha"]) == "did you mean 'alpha'? (self, other, alpha)"
    assert suggest("TENSOR", ["int", "Tensor"]) == "did you mean 'Tensor'? (int, Tensor)"
    assert suggest("zzz", ["self", "self", "other"]) == "known names: self, other"
    assert suggest("x", []) == "no names are known here"
    many = [f"name{number}" for number in range(30)]
    assert suggest("nam29", many) == "did you mean 'name29'?"
    assert suggest("zzz", many).endswith("name11, … 30 in all")


def test_lines_are_split_as_editors_do() -> None:
    assert split_lines("a\r\nb\rc\nd\x0ce\n") == ["a", "b", "c", "d\x0ce"]
    assert split_lines("") == []
    assert split_lines("a\n\n") == ["a", ""]
