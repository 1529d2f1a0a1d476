"""The tests that other libraries bring for arrays of torch, run with opweave in its place (`opweave.as_torch`).

What is expected to fail is named, with the reason; the counts are those of the versions that were there when they were
written down, and later ones may have more. The suite of the array API standard is in no package: where
OPWEAVE_ARRAY_API_TESTS is the path of a checkout of data-apis/array-api-tests, it is run as well.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Suite:
    package: str
    files: tuple[str, ...]
    passed: int
    """At least so many."""
    failed: tuple[str, ...] = ()


SUITES = {
    "scikit-learn": Suite(
        "sklearn",
        (
            "utils/tests/test_array_api.py",
            "utils/tests/test_validation.py",
            "utils/tests/test_extmath.py",
            "preprocessing/tests/test_data.py",
            "metrics/tests/test_common.py",
            "metrics/tests/test_pairwise.py",
            "metrics/tests/test_classification.py",
            "linear_model/tests/test_ridge.py",
            "decomposition/tests/test_pca.py",
            "mixture/tests/test_gaussian_mixture.py",
            "model_selection/tests/test_split.py",
        ),
        700,
    ),
    "array-api-extra": Suite(
        "array_api_extra",
        ("tests/main",),
        1090,
        (
            # An angle to the last bit, which vector mathematics has to one unit in it.
            "TestAngle::test_complex[torch]",
            "TestAngle::test_2d[torch]",
            # The settings of the suite, which are in no package, make errors of warnings.
            "TestDeprecatedFunctions::test_broadcast_shapes[torch]",
            "TestDeprecatedFunctions::test_expand_dims[torch]",
        ),
    ),
    "SciPy": Suite(
        "scipy",
        (
            "_lib/tests/test_array_api.py",
            "cluster/tests/test_vq.py",
            "fft/tests/test_basic.py",
            "fft/tests/test_fftlog.py",
            "fft/tests/test_helper.py",
            "integrate/tests/test_cubature.py",
            "signal/tests/test_windows.py",
            "special/tests/test_logsumexp.py",
            "special/tests/test_support_alternative_backends.py",
            "stats/tests/test_entropy.py",
        ),
        3880,
    ),
}


def outcomes(command: list[str], folder: Path, **environment: str) -> tuple[int, list[str], str]:
    """How many tests passed, the names of those that did not, and what was printed."""
    done = subprocess.run(
        [*command, "-q", "-p", "no:cacheprovider", "-rfE", "--tb=short"],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    failed = re.findall(r"^(?:FAILED|ERROR) \S*?::(\S+)", done.stdout, re.MULTILINE)
    return int(passed[1]) if passed else 0, failed, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize("name", SUITES)
def test_with_opweave_as_torch(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    for needed in (suite.package, "array_api_strict"):
        pytest.importorskip(needed)
    root = Path(pytest.importorskip(suite.package).__file__).parent
    run_pytest = importlib.util.find_spec("pytest.__main__")
    assert run_pytest is not None
    assert run_pytest.origin is not None
    command = [sys.executable, "-m", "opweave.as_torch", run_pytest.origin, f"--rootdir={root}", "-W", "ignore"]
    files = [str(root / file) for file in suite.files]
    passed, failed, text = outcomes([*command, "-k", "torch", *files], tmp_path, SCIPY_ARRAY_API="1")
    assert sorted(failed) == sorted(suite.failed), text
    assert passed >= suite.passed, text


@pytest.mark.skipif(
    "OPWEAVE_ARRAY_API_TESTS" not in os.environ, reason="OPWEAVE_ARRAY_API_TESTS is no checkout of them"
)
def test_array_api_tests() -> None:
    folder = Path(os.environ["OPWEAVE_ARRAY_API_TESTS"])
    command = [sys.executable, "-m", "pytest", "array_api_tests", "--max-examples=100", "--disable-deadline"]
    passed, failed, text = outcomes(command, folder, ARRAY_API_TESTS_MODULE="opweave.array_api")
    assert not failed, text
    assert passed, text
