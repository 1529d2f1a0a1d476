"""Random calls whose right result NumPy knows: shapes that broadcast, in any strides, dtypes and kinds of operands.

Calls with arguments of any kind, right or wrong, are in test_robustness.py.
"""

from __future__ import annotations

from random import Random

import pytest
from harness import random_calls
from harness.catalog import specs
from harness.spec import Spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FEW = 10
MANY = settings(max_examples=3000, derandomize=False, suppress_health_check=list(HealthCheck))

ELEMENTWISE = pytest.mark.parametrize("spec", specs("elementwise"), ids=lambda spec: spec.name)
# Those without an equal in NumPy are compared with torch alone.
COMPARED = [spec for family in ("reduce", "scan") for spec in specs(family) if spec.reference]
ACCUMULATING = pytest.mark.parametrize("spec", COMPARED, ids=lambda spec: spec.name)


@ELEMENTWISE
def test_elementwise(spec: Spec) -> None:
    for number in range(FEW):
        random_calls.compare_elementwise(spec, Random(f"{spec} {number}"))


@ACCUMULATING
def test_reductions_and_scans(spec: Spec) -> None:
    for number in range(FEW):
        random_calls.compare_accumulated(spec, Random(f"{spec} {number}"))


@pytest.mark.slow
@ELEMENTWISE
@MANY
@given(random=st.randoms(use_true_random=False))
def test_elementwise_at_length(spec: Spec, random: Random) -> None:
    random_calls.compare_elementwise(spec, random)


@pytest.mark.slow
@ACCUMULATING
@MANY
@given(random=st.randoms(use_true_random=False))
def test_reductions_and_scans_at_length(spec: Spec, random: Random) -> None:
    random_calls.compare_accumulated(spec, random)
