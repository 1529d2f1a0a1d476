"""Values by hand, and what the entries promise: dtypes, memory layouts, variants, gradients."""

import subprocess
import sys
from pathlib import Path

import my_ops
import opweave

DECLARATIONS = Path(__file__).parent.parent / "my_ops.yaml"


def test_solarize_inverts_what_is_above_the_threshold():
    x = opweave.tensor([0.25, 0.5, 0.75])
    assert my_ops.solarize(x).tolist() == [0.25, 0.5, 0.25]
    assert x.solarize(threshold=0.0).tolist() == [0.75, 0.5, 0.25]


def test_what_the_entries_promise():
    subprocess.run([sys.executable, "-m", "opweave", "test", DECLARATIONS], check=True)
