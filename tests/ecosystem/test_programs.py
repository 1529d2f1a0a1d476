"""Programs with libraries that are written for torch run with opweave in its place, with the numbers of torch."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from typing import Any

import program_files
import pytest

TOLERANCE = 2e-4
"""Of float32 after some steps of training."""


@pytest.mark.parametrize("name", program_files.NAMES)
def test_programs_answer_as_with_torch(name: str) -> None:
    expected = program_files.recorded(name)
    installed = {canonical(each.name) for each in distributions()}
    missing = [each for each in expected["libraries"] if canonical(each) not in installed]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install --no-deps -r tests/ecosystem/libraries.txt")
    got = program_files.run(name, "-m", "opweave.as_torch")
    assert list(got["answers"]) == list(expected["answers"])
    wrong: list[Any] = []
    for program, answer in expected["answers"].items():
        wrong += program_files.differences(got["answers"][program], answer, TOLERANCE, program)
    assert not wrong, "\n".join(wrong)


def test_the_page_of_libraries_is_fresh() -> None:
    assert program_files.PAGE.read_text() == program_files.page()


def canonical(distribution: str) -> str:
    """The name of a distribution as packages are compared by."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
