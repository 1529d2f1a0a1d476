"""Distributed tensors in real processes."""

from __future__ import annotations

import pytest

from .ranks import check, names, needs_mpi, run_cases

pytestmark = needs_mpi


@pytest.fixture(scope="module", params=[2, 4])
def reports(request, tmp_path_factory):
    return run_cases("sharded_tensors", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("sharded_tensors"))
def test_on_all_ranks(reports, name):
    check(reports, name)


@pytest.fixture(scope="module", params=[2, 4])
def samples(request, tmp_path_factory):
    return run_cases("sharded_samples", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("sharded_samples"))
def test_recorded_samples(samples, name):
    check(samples, name)


@pytest.fixture(scope="module", params=[2, 4])
def matrices(request, tmp_path_factory):
    return run_cases("linear_algebra", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("linear_algebra"))
def test_linear_algebra(matrices, name):
    check(matrices, name)
