"""Projects that `opweave new` starts: they build, install and pass their own tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from weaving import python

pytest.importorskip("opweave")

from opweave._weave.new_project import create
from opweave._weave.weave import WeaveError, read


@pytest.fixture
def project(tmp_path: Path) -> Path:
    create("film_ops", tmp_path)
    return tmp_path / "film_ops"


def test_files_have_the_name_and_the_version(project: Path) -> None:
    import opweave

    assert sorted(path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()) == [
        ".github/workflows/wheels.yml",
        ".gitignore",
        "README.md",
        "film_ops.yaml",
        "hatch_build.py",
        "pyproject.toml",
        "tests/test_film_ops.py",
    ]
    texts = [path.read_text("utf-8") for path in project.rglob("*") if path.is_file()]
    assert not any("my_ops" in text or 'opweave==0"' in text for text in texts)
    assert f"opweave=={opweave.__version__}" in (project / "pyproject.toml").read_text("utf-8")


def test_declarations_have_no_mistakes(project: Path) -> None:
    assert [each.name for each in read(project / "film_ops.yaml", "film_ops")] == ["solarize"]


@pytest.mark.parametrize("name", ["film-ops", "class", "json", "opweave", "", "../film_ops"])
def test_names_that_cannot_be_imported(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeaveError, match="package") as caught:
        create(name, tmp_path)
    assert "--name" not in str(caught.value)  # an option of another command
    assert not any(tmp_path.iterdir())


def test_a_folder_with_files_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "film_ops").mkdir()
    (tmp_path / "film_ops" / "kept").write_text("kept")
    with pytest.raises(WeaveError, match="exists already"):
        create("film_ops", tmp_path)
    assert [path.name for path in (tmp_path / "film_ops").iterdir()] == ["kept"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeaveError, match="cannot write"):
        create("film_ops", tmp_path / "file")


def test_command(tmp_path: Path) -> None:
    done = python("-m", "opweave", "new", "film_ops", cwd=tmp_path)
    assert "wrote film_ops/pyproject.toml" in done.stdout
    assert "exists already" in python("-m", "opweave", "new", "film_ops", cwd=tmp_path, status=1).stderr


@pytest.mark.slow
def test_wheels_install_and_pass_their_tests(project: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    options = ("--quiet", "--no-build-isolation", "--no-deps")
    subprocess.run([*pip, "wheel", *options, "--wheel-dir", "dist", "."], cwd=project, check=True)
    (wheel,) = (project / "dist").iterdir()
    assert wheel.name.startswith("film_ops-0.1.0-py3-none-linux")
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", tmp_path / "site", wheel], check=True)
    (project / "film_ops").rename(tmp_path / "woven")  # the installed package is what is tested
    environment = {**os.environ, "PYTHONPATH": os.fspath(tmp_path / "site")}
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=project, check=True, env=environment)
