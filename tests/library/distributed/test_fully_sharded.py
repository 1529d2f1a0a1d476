"""Modules whose parameters are divided among real processes."""

from __future__ import annotations

import pytest

from .ranks import check, names, needs_mpi, run_cases

pytestmark = needs_mpi


@pytest.fixture(scope="module", params=[2, 4])
def training(request, tmp_path_factory):
    return run_cases("fully_sharded", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("fully_sharded"))
def test_training(training, name):
    check(training, name)


@pytest.fixture(scope="module", params=[2, 4])
def use(request, tmp_path_factory):
    return run_cases("sharded_modules", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("sharded_modules"))
def test_use(use, name):
    check(use, name)


@pytest.fixture(scope="module", params=[2, 4])
def wrapper(request, tmp_path_factory):
    return run_cases("fsdp_wrapper", request.param, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", names("fsdp_wrapper"))
def test_wrapper(wrapper, name):
    check(wrapper, name)
