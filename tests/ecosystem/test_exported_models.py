"""Models of other libraries as programs in files, compiled and as ONNX give what the models do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("exported_models.py")


def test_results_are_those_of_the_models() -> None:
    for package in ("onnx", "onnxruntime", "timm", "torchvision", "transformers"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "opweave.as_torch", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 9
    assert {name: off for name, off in found.items() if off["export"] or off["compile"] or not off["onnx"] < 1e-4} == {}
