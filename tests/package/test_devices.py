"""Devices beside the CPU: they can be named, and every question about them is answered, though there are none."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import opweave
import pytest
from opweave.backends import cudnn


@pytest.mark.parametrize("name", ["cuda", "xpu", "mps"])
def test_there_are_none(name: str) -> None:
    module = importlib.import_module(f"opweave.{name}")
    assert module is getattr(opweave, name)
    assert module.is_available() is False
    assert module.device_count() == 0
    for public in module.__all__:
        assert hasattr(module, public)
    with pytest.raises((AssertionError, RuntimeError)):
        module.synchronize()


@pytest.mark.parametrize("name", ["cuda", "xpu"])
def test_what_concerns_all_devices_does_nothing(name: str) -> None:
    module: Any = getattr(opweave, name)
    assert module.is_initialized() is False
    assert module.is_bf16_supported() is False
    for function in (module.empty_cache, module.seed_all, module.reset_peak_memory_stats):
        assert function() is None
    module.manual_seed(1)
    module.manual_seed_all(1)
    module.set_rng_state_all(module.get_rng_state_all())
    assert module.memory_allocated() == module.max_memory_allocated(0) == 0
    assert module.memory_stats() == {}
    with module.device(-1), module.device(None), module.stream(None):
        pass


def test_what_needs_a_device_says_that_there_is_none() -> None:
    for call in (opweave.cuda.current_device, opweave.cuda.get_device_name, opweave.cuda.init):
        with pytest.raises(AssertionError, match="not compiled with CUDA"):
            call()
    with pytest.raises(AssertionError, match="not compiled with CUDA or XPU"), opweave.xpu.device(0):
        pass
    with pytest.raises(RuntimeError, match="not compiled with MPS"):
        opweave.mps.empty_cache()


def test_devices_are_values() -> None:
    for text in ("cuda", "cuda:1", "mps", "xpu:0"):
        device = opweave.device(text)
        assert device == opweave.device(device)
        assert str(device) == text
        assert hash(device) == hash(opweave.device(text))
        assert device != opweave.ones(1).device
        with pytest.raises(RuntimeError, match=f"device '{text}' is not available"):
            opweave.ones(1, device=device)
        with pytest.raises(RuntimeError, match="is not available"):
            opweave.ones(1).to(device)
    device = opweave.device("cuda" if opweave.cuda.is_available() else "cpu")
    assert opweave.ones(1, device=device).to(device).device == device


def test_methods_that_move_tensors() -> None:
    x = opweave.ones(1)
    for move in (x.cuda, x.xpu, lambda: x.cuda("cuda:0"), lambda: x.cuda(opweave.device("cuda"))):
        with pytest.raises(RuntimeError, match="tensors of this build live on the CPU"):
            move()
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        x.pin_memory()


def test_backends() -> None:
    backends = opweave.backends
    assert not backends.cuda.is_built()
    assert not backends.mps.is_available()
    assert not backends.mps.is_built()
    for module in (backends.cudnn, backends.mkl, backends.mkldnn, backends.openmp, backends.opt_einsum):
        assert module.is_available() is False
    assert backends.cudnn.version() is None
    assert backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    backends.cuda.matmul.allow_tf32 = False


def test_switches_keep_their_values() -> None:
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, False, False)
    cudnn.deterministic = True
    try:
        with cudnn.flags(enabled=False, benchmark=True):
            assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (False, True, False)
        assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, False, True)
        assert cudnn.set_flags(benchmark=True) == (True, False, None, True, True)
        assert cudnn.benchmark
    finally:
        cudnn.deterministic = cudnn.benchmark = False


def test_version() -> None:
    assert opweave.version.__version__ == opweave.__version__
    assert opweave.version.cuda is None
    assert opweave.version.hip is None
    assert opweave.version.debug is False


def test_namespaces_are_imported_when_they_are_asked_for() -> None:
    code = (
        "import sys, opweave; assert not {'opweave.cuda', 'opweave.backends'} & set(sys.modules); "
        "opweave.cuda.is_available(); import opweave.backends.cudnn"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
