"""Every operator written in Python has a reference in ops.yaml, or answers of torch that it is compared with."""

from __future__ import annotations

import re
from typing import Any

from harness import recording
from harness.catalog import described
from harness.paths import TESTS

SWEEP = "test_every_operator_oracle"


def names_of(operator: dict[str, Any]) -> set[str]:
    paths = (*operator["functions"], *operator["submodules"], *operator["methods"])
    return {path.rpartition(".")[2] for path in paths}


def asked_of_torch() -> set[str]:
    """Words in the tests that have a recording, and in their parameters."""
    modules = {path.name.partition(".")[0] for path in recording.FOLDER.iterdir()} - {SWEEP, recording.NAMES}
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py") if path.stem in modules]
    texts.append((TESTS / "runtime" / "linalg" / "calls.txt").read_text(encoding="utf-8"))
    texts += [name for module in modules for name in recording.load(module)[1]]
    return {word for text in texts for word in re.findall(r"\w+", text)}


def answered() -> set[str]:
    """Operators of which the sweep has recorded results, and not only refusals."""
    answers, tests = recording.load(SWEEP)
    result = set()
    for name, (_, *positions) in tests.items():
        if any(not (isinstance(answers[index], dict) and "error" in answers[index]) for index in positions):
            result.add(name.partition("[")[2].rpartition("-")[0])
    return result


def test_every_composite_is_compared_with_something() -> None:
    """Those without a public name are compared by the operators that call them."""
    words, swept = asked_of_torch(), answered()
    composites = [each for each in described() if each["family"] == "composite" and each["reference"] in (None, "none")]
    without = [
        each["name"]
        for each in composites
        if names_of(each) and not names_of(each) & words and each["name"] not in swept
    ]
    assert not without, f"neither a reference nor a recorded answer of torch: {', '.join(without)}"
