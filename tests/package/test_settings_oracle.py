"""Settings of the process that training scripts make: what they take, refuse and return. Programs undo their own."""

from __future__ import annotations

import opweave
import pytest
from harness.programs import check, programs

PROGRAMS = programs("""
def state():
    mode, warn_only = L.are_deterministic_algorithms_enabled(), L.is_deterministic_algorithms_warn_only_enabled()
    return mode, warn_only, L.get_deterministic_debug_mode()
seen = [state(), L.use_deterministic_algorithms(True), state()]
seen += [L.use_deterministic_algorithms(mode=True, warn_only=True), state()]
seen += [L.use_deterministic_algorithms(False, warn_only=True), state()]
for mode in ("warn", "error", "default", 1, 2, True, 0):
    seen += [L.set_deterministic_debug_mode(mode), state()]
seen
---
L.use_deterministic_algorithms(1)
---
L.use_deterministic_algorithms(True, warn_only=1)
---
L.use_deterministic_algorithms(True, True)
---
L.set_deterministic_debug_mode("off")
---
L.set_deterministic_debug_mode(5)
---
L.set_deterministic_debug_mode(1.0)
---
seen = [L.get_float32_matmul_precision()]
for precision in ("high", "medium", "fast", "highest"):
    seen += [L.set_float32_matmul_precision(precision), L.get_float32_matmul_precision()]
seen
---
L.set_float32_matmul_precision(3)
---
[L.is_warn_always_enabled(), L.set_warn_always(True), L.is_warn_always_enabled(), L.set_warn_always(False)]
---
L.set_warn_always(1)
---
seen = []
for kind in ("torch.DoubleTensor", L.HalfTensor, "torch.BFloat16Tensor", L.FloatTensor):
    seen += [L.set_default_tensor_type(kind), str(L.tensor(1.5).dtype)]
seen
---
L.set_default_tensor_type(L.LongTensor)
---
L.set_default_tensor_type("torch.BoolTensor")
---
L.set_default_tensor_type(L.float32)
---
L.set_default_tensor_type(L.Tensor)
---
L.set_default_tensor_type("torch.float32")
---
L.set_default_tensor_type("FloatTensor")
---
L.set_default_tensor_type("torch.cuda.FloatTensor")
---
def state():
    return L.is_anomaly_enabled(), L.is_anomaly_check_nan_enabled()
seen = [state(), L.set_anomaly_enabled(True), state(), L.set_anomaly_enabled(True, False), state()]
with L.autograd.set_detect_anomaly(True):
    seen += [state()]
seen += [state(), L.set_anomaly_enabled(enabled=False), state()]
seen
---
L.set_anomaly_enabled(1)
---
L.set_anomaly_enabled(False, check_nan=1)
---
L.get_device_module() is L.cpu
---
[L.get_device_module(name) is getattr(L, name) for name in ("cpu", "cuda", "xpu", "mps")]
---
L.get_device_module("cuda:1") is L.cuda, L.get_device_module(L.device("cpu")) is L.cpu
---
L.get_device_module("meta")
---
L.get_device_module("abc")
---
L.get_device_module(3)
""")


def test_settings() -> None:
    for text in PROGRAMS:
        check(text)


def test_a_type_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ComplexFloatTensor'"):
        opweave.set_default_tensor_type("torch.ComplexFloatTensor")
