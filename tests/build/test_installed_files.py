"""What weaving outside the tree needs of the installed package: flags, headers, templates."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

resources = pytest.importorskip("opweave._base.package_data")

PROGRAM = """
#include "kernel.h"
int OW_SYMBOL(probe)(void) { return OW_NDTYPES + OW_NLEVELS; }
"""


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(resources.path("codegen", "build_config.json").read_text())
    return result


def test_config_is_complete(config: dict[str, Any]) -> None:
    assert sorted(config) == ["arguments", "compiler", "levels", "libraries"]
    assert "-ffp-contract=off" in config["arguments"]
    assert f"-DOW_NLEVELS={len(config['levels'])}" in config["arguments"]
    assert next(iter(config["levels"])) == "v1"


@pytest.mark.parametrize("level", ["v1", "v3", "v4"])
def test_headers_compile_alone_at_every_level(config: dict[str, Any], level: str, tmp_path: Path) -> None:
    if level not in config["levels"]:
        pytest.skip("this build has no such level")
    if shutil.which(config["compiler"][0]) is None:
        pytest.skip("no compiler")
    headers = resources.folder("codegen", "include")
    for name, header in headers.items():
        shutil.copy(header, tmp_path / name)
    (tmp_path / "probe.c").write_text(PROGRAM)
    command = [*config["compiler"], *config["arguments"], *config["levels"][level], f"-DOW_LEVEL={level}"]
    output = tmp_path / "probe.so"
    subprocess.run(
        [*command, "-Wall", "-Wextra", "-Werror", "-shared", "-o", output, "probe.c", *config["libraries"]],
        cwd=tmp_path,
        check=True,
    )
    assert output.exists()


def test_templates_and_declarations_are_there() -> None:
    assert any(name.endswith(".c.j2") for name in resources.folder("codegen", "templates"))
    assert "- func: add" in resources.path("ops.yaml").read_text()
