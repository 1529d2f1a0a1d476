"""Names that programs written for torch import: aliases, types, versions and what says how the package was built."""

from __future__ import annotations

import functools
import importlib
import threading

import opweave
import pytest
from opweave import autograd
from opweave._names.module_names import MODULES
from opweave.torch_version import TorchVersion

RENAMED = {
    "_dynamo.utils": "is_compile_supported",
    "autograd.grad_mode": "no_grad set_grad_enabled inference_mode enable_grad",
    "cuda.amp": "autocast GradScaler",
    "cuda.random": "manual_seed get_rng_state_all",
    "cpu.amp": "autocast",
    "nn.modules.channelshuffle": "ChannelShuffle",
    "nn.modules.flatten": "Flatten Unflatten",
    "nn.modules.fold": "Fold Unfold",
    "nn.modules.instancenorm": "InstanceNorm1d InstanceNorm2d _InstanceNorm",
    "nn.modules.padding": "ZeroPad2d ConstantPad1d ReflectionPad2d ReplicationPad3d CircularPad1d",
    "nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "optim.adamw": "AdamW",
    "utils.data._utils.collate": "default_collate default_convert",
    "utils.data._utils.worker": "get_worker_info WorkerInfo",
    "utils.model_zoo": "load_state_dict_from_url",
}
"""Names that programs import from modules where torch has them."""


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


@pytest.mark.parametrize(("module", "names"), RENAMED.items())
def test_modules_that_torch_has_in_other_files(module: str, names: str) -> None:
    found = importlib.import_module(f"opweave.{module}")
    for name in names.split():
        assert getattr(found, name).__name__ == name.rpartition(".")[2]
    assert found is functools.reduce(getattr, module.split("."), opweave)
    with pytest.raises(AttributeError, match=f"module 'opweave.{module}' has no attribute 'nothing'"):
        found.nothing  # noqa: B018


def test_every_module_of_other_names_leads_somewhere() -> None:
    found = {module: importlib.import_module(f"opweave.{module}") for module in MODULES}
    for module, target in MODULES.items():
        assert dir(found[module]) == dir(importlib.import_module(f"opweave.{target}"))
    with pytest.raises(ModuleNotFoundError, match=r"opweave.nn.modules.nothing"):
        importlib.import_module("opweave.nn.modules.nothing")


def test_assertions() -> None:
    opweave._check(True)
    opweave._check_is_size(3, max=3)
    opweave._check_tensor_all(opweave.tensor([True]))
    opweave._assert(opweave.tensor(True), "")
    for call, error, text in (
        (lambda: opweave._check(False), RuntimeError, "Expected cond to be True, but got False"),
        (lambda: opweave._check(1), TypeError, "cond must be a bool, but got <class 'int'>"),
        (lambda: opweave._check(False, "text"), TypeError, "message must be a callable"),
        (lambda: opweave._check_index(False, lambda: "an index"), IndexError, "an index"),
        (lambda: opweave._check_value(False, lambda: "a value"), ValueError, "a value"),
        (lambda: opweave._check_is_size(3, max=2), RuntimeError, "Expected cond"),
        (lambda: opweave._check_tensor_all(opweave.tensor([True, False])), RuntimeError, "Expected cond"),
        (lambda: opweave._check_tensor_all(opweave.ones(2)), TypeError, "must have dtype torch.bool, but got"),
        (lambda: opweave._assert(False, "never"), AssertionError, "never"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_numbers_that_are_known() -> None:
    assert opweave.sym_max(1, 2.0) == 2.0
    assert isinstance(opweave.sym_min(1, 2.0), float)
    assert opweave.sym_int(2.7) == 2
    assert opweave.sym_ite(False, 1, 2) == 2
    assert opweave.sym_not(False) is True
    assert opweave.sym_sum([1, 2]) == 3
    assert not isinstance(3, opweave.SymInt)


def test_futures() -> None:
    future = opweave.futures.Future()
    following = future.then(lambda each: each.value() + 1)
    with pytest.raises(RuntimeError, match="not completed"):
        future.value()
    together = opweave.futures.collect_all([future, following])
    assert not together.done()
    threading.Timer(0.01, future.set_result, (2,)).start()
    assert following.wait() == 3
    assert together.wait() == [future, following]
    assert opweave.futures.wait_all([future, following]) == [2, 3]
    with pytest.raises(RuntimeError, match="once"):
        future.set_result(3)
    failed = opweave.futures.Future()
    failed.set_exception(KeyError("x"))
    for each in (failed, failed.then(lambda each: each.wait())):
        with pytest.raises(KeyError):
            each.wait()
    with pytest.raises(AssertionError, match="not an Exception"):
        opweave.futures.Future().set_exception(3)
    assert opweave.futures.collect_all([]).wait() == []
