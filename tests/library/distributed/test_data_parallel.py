"""DistributedDataParallel in real processes."""

from __future__ import annotations

from .ranks import check, each_case, needs_mpi

pytestmark = needs_mpi


@each_case(data_parallel=(2, 3))
def test_on_all_ranks(reports, name):
    check(reports, name)
