"""Random calls whose right result NumPy knows: shapes that broadcast, in any strides, dtypes and kinds of operands.

Calls with arguments of any kind, right or wrong, are in test_robustness.py.
"""

from __future__ import annotations

import pytest
from harness import random_calls
from harness.catalog import specs
from harness.spec import Spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
MANY = settings(FEW, max_examples=3000, derandomize=False)

ELEMENTWISE = pytest.mark.parametrize("spec", specs("elementwise"), ids=lambda spec: spec.name)
# Those without an equal in NumPy are compared with torch alone.
COMPARED = [spec for family in ("reduce", "scan") for spec in specs(family) if spec.reference]
ACCUMULATING = pytest.mark.parametrize("spec", COMPARED, ids=lambda spec: spec.name)


@ELEMENTWISE
@FEW
@given(data=st.data())
def test_elementwise(spec: Spec, data: st.DataObject) -> None:
    random_calls.compare_elementwise(spec, data)


@ACCUMULATING
@FEW
@given(data=st.data())
def test_reductions_and_scans(spec: Spec, data: st.DataObject) -> None:
    random_calls.compare_accumulated(spec, data)


@pytest.mark.slow
@ELEMENTWISE
@MANY
@given(data=st.data())
def test_elementwise_at_length(spec: Spec, data: st.DataObject) -> None:
    random_calls.compare_elementwise(spec, data)


@pytest.mark.slow
@ACCUMULATING
@MANY
@given(data=st.data())
def test_reductions_and_scans_at_length(spec: Spec, data: st.DataObject) -> None:
    random_calls.compare_accumulated(spec, data)
