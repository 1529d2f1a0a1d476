"""DistributedDataParallel in real processes."""

from __future__ import annotations

import pytest

from .ranks import check, names, needs_mpi, run_cases

pytestmark = needs_mpi


@pytest.fixture(scope="module", params=[2, 3])
def reports(request, tmp_path_factory):
    return run_cases("data_parallel", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("data_parallel"))
def test_on_all_ranks(reports, name):
    check(reports, name)
