"""Every class of mistake is reported where it stands, all of a file at once, and nothing else is.

A file of tests/codegen/bad says in comments what is expected of it:

    # expect LINE:COLUMN beginning of the message
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen import library
from codegen.__main__ import main
from codegen.errors import CodegenError, Diagnostic

FOLDER = Path(__file__).parent / "bad"
FILES = sorted(FOLDER.glob("*.yaml"))
_EXPECTATION = re.compile(r"^# expect (\d+):(\d+) (.+)$", re.MULTILINE)

Expectation = tuple[int, int, str]


def expectations(path: Path) -> list[Expectation]:
    text = path.read_text(encoding="utf-8")
    return sorted((int(line), int(column), start) for line, column, start in _EXPECTATION.findall(text))


def reported(path: Path) -> list[Diagnostic]:
    try:
        library.read(path, path.name)
    except CodegenError as error:
        return error.diagnostics
    return []


def unmet(diagnostics: list[Diagnostic], expected: list[Expectation]) -> list[str]:
    """What was expected and not reported, and what was reported and not expected."""
    missing = list(expected)
    extra = []
    for diagnostic in diagnostics:
        match = next(
            (each for each in missing if _agrees(diagnostic, each)),
            None,
        )
        if match is None:
            extra.append(f"not expected: {diagnostic}")
        else:
            missing.remove(match)
    return extra + [f"not reported: {line}:{column} {start}" for line, column, start in missing]


def _agrees(diagnostic: Diagnostic, expectation: Expectation) -> bool:
    line, column, start = expectation
    return (diagnostic.line, diagnostic.column) == (line, column) and diagnostic.message.startswith(start)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mistakes_are_reported_where_they_stand(path: Path) -> None:
    expected = expectations(path)
    assert expected, "the file says nothing about what is expected of it"
    assert unmet(reported(path), expected) == []


def test_there_is_a_file_for_every_class_of_mistake() -> None:
    assert len(FILES) >= 45
    assert sum(len(expectations(path)) > 2 for path in FILES) >= 3
    assert not [path.name for path in FOLDER.iterdir() if path.suffix != ".yaml"]


def test_the_comparison_can_fail() -> None:
    diagnostics = [Diagnostic("f", 3, 9, "unknown key 'x'")]
    assert unmet(diagnostics, [(3, 9, "unknown key")]) == []
    assert unmet(diagnostics, [(3, 10, "unknown key")]) == [
        "not expected: f:3:9: error: unknown key 'x'",
        "not reported: 3:10 unknown key",
    ]
    assert unmet(diagnostics, []) == ["not expected: f:3:9: error: unknown key 'x'"]
    assert unmet([], [(1, 1, "a")]) == ["not reported: 1:1 a"]


def test_the_command_prints_them_like_a_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / "expression_name.yaml"
    assert main(["--yaml", str(path), "--output", str(tmp_path / "generated")]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[:4] == [
        "expression_name.yaml:3:23: error: unknown name 'alhpa'",
        "    3 |   elementwise: self + alhpa * other",
        "      |                       ^^^^^",
        "      = help: did you mean 'alpha'? (self, other, alpha)",
    ]
    assert not (tmp_path / "generated").exists()


def test_a_file_that_cannot_be_read_is_a_mistake_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--yaml", str(tmp_path / "absent.yaml"), "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "absent.yaml: error: cannot read the file: No such file or directory\n"


def test_names_of_other_libraries_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text("- func: exp(Tensor self) -> Tensor\n  doc: Doc.\n  elementwise: -self\n  derivatives: auto\n")
    assert [operator.name for operator in library.read(path, taken={"log"})] == ["exp"]
    with pytest.raises(CodegenError) as caught:
        library.read(path, "ops.yaml", taken={"exp"})
    assert str(caught.value) == "ops.yaml:1:9: error: function 'exp' already exists in opweave"
