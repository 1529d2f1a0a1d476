"""The tests that other libraries bring for arrays of torch, run with opweave in its place (`opweave.as_torch`).

Which they are and what is expected of them is in own_suites.py. Tests that are in no package are taken from the source
distribution, where there is a network. The suite of the array API standard is in neither: where OPWEAVE_ARRAY_API_TESTS
is the path of a checkout of data-apis/array-api-tests, it is run as well.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
from own_suites import SUITES


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


def source_tests(name: str, folder: Path) -> Path:
    """The folder of tests in the source distribution of the version that is installed."""
    wanted = f"{name}=={version(name)}"
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", wanted]
    if subprocess.run(download, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip(f"pip finds no source distribution of {wanted}")
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        # Without the package, which would be taken in the place of the one that is installed.
        members = [each for each in archive.getmembers() if each.name.split("/")[1:2] == ["test"]]
        archive.extractall(folder, members, filter="data")
    return folder / members[0].name.partition("/")[0] / "test"


@pytest.mark.parametrize("name", SUITES)
def test_with_opweave_as_torch(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    package = importlib.util.find_spec(suite.package)
    if package is None or package.origin is None:
        pytest.skip(f"{name} is not installed")
    if suite.keyword:
        pytest.importorskip("array_api_strict")
    root = source_tests(name, tmp_path) if suite.of_source else Path(package.origin).parent
    run_pytest = importlib.util.find_spec("pytest.__main__")
    assert run_pytest is not None
    assert run_pytest.origin is not None
    command = [sys.executable, "-m", "opweave.as_torch", run_pytest.origin, f"--rootdir={root}", "-W", "ignore"]
    files = [str(root / file) for file in suite.files]
    environment = {"SCIPY_ARRAY_API": "1", **suite.environment}
    passed, failed, text = outcomes([*command, "-k", suite.keyword, *files], tmp_path, **environment)
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
