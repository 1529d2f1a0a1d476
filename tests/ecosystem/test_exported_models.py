"""Models of other libraries as programs in files, compiled and as ONNX give what the models do."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("exported_models.py")


def test_results_are_those_of_the_models() -> None:
    packages = ("onnx", "onnxruntime", "timm", "torchvision", "transformers")
    absent = [each for each in packages if find_spec(each) is None]  # they would import torch here
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    command = [sys.executable, "-m", "opweave.as_torch", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 9
    assert {name: off for name, off in found.items() if off["export"] or off["compile"] or not off["onnx"] < 1e-4} == {}
