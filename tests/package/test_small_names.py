"""Names that programs written for torch import: aliases, types, versions and what says how the package was built."""

from __future__ import annotations

import importlib

import opweave
import pytest
from opweave import autograd
from opweave.torch_version import TorchVersion


def test_variables_are_tensors() -> None:
    x = opweave.ones(2)
    variable = autograd.Variable(x, requires_grad=True)
    assert isinstance(x, autograd.Variable)
    assert not isinstance(1, autograd.Variable)
    assert variable.requires_grad
    assert not x.requires_grad
    assert variable.data_ptr() == x.data_ptr()
    assert importlib.import_module("opweave.autograd.variable").Variable is autograd.Variable


def test_versions_compare_by_numbers() -> None:
    version = TorchVersion("2.13.0+opweave")
    assert version >= "2.9"
    assert version > (1, 13)
    assert not version < "2.13"
    assert version <= "2.13.0"
    assert isinstance(version, str)
    assert version == "2.13.0+opweave"
    with pytest.raises(ValueError, match="no version"):
        assert version < "x"


def test_the_cpu_is_a_device() -> None:
    cpu = opweave.cpu
    assert cpu.is_available()
    assert cpu.device_count() == 1
    assert cpu.current_device() == "cpu"
    cpu.set_device("cpu")
    cpu.synchronize()
    with cpu.stream(cpu.current_stream()) as stream:
        assert stream is None


def test_modules_of_other_names() -> None:
    assert opweave.functional.einsum is opweave.einsum
    assert opweave.functional.__all__ == sorted(opweave.functional.__all__)
    assert opweave.storage.UntypedStorage is opweave.UntypedStorage
    assert isinstance(2.5, opweave.types.Number)
    assert opweave.Tag.pointwise.name == "pointwise"
    shown = opweave.__config__.show()
    assert "OpenBLAS" in shown
    assert opweave.__version__ in shown
    assert str(opweave.get_num_threads()) in opweave.__config__.parallel_info()
