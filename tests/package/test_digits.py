"""examples/digits.py: what it learns, what it writes, and that torch takes the same way."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import opweave
import pytest
from harness import oracle
from harness.oracle import Like
from harness.paths import ROOT


@pytest.fixture(scope="module")
def digits() -> ModuleType:
    pytest.importorskip("sklearn")
    path = ROOT / "examples" / "digits.py"
    spec = importlib.util.spec_from_file_location("digits", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["digits"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_learns(digits: ModuleType) -> None:
    curves = digits.train(opweave, epochs=30, seed=0)
    assert len(curves.losses) == 30 * 23
    assert curves.test_accuracy[-1] >= 0.97
    assert curves.losses[-1] < 0.05 < 2 < curves.losses[0]


def test_writes_curves_and_a_picture(digits: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    curves = digits.main(["--epochs", "2", "--out", str(tmp_path / "new")])
    assert "test accuracy" in capsys.readouterr().out
    picture = tmp_path / "new" / "digits-opweave.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    saved = json.loads((tmp_path / "new" / "digits-opweave.json").read_text(encoding="utf-8"))
    assert saved["losses"] == curves.losses
    assert len(saved["losses"]) == 2 * 23
    assert len(saved["test_accuracy"]) == 2


@pytest.mark.oracle
def test_same_losses_as_torch(digits: ModuleType) -> None:
    oracle.check(lambda L: digits.train(L, epochs=3, seed=1).losses[:50], "losses", Like(rtol=0, atol=1e-4))
