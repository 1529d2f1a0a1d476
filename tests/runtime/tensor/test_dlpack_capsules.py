"""Capsules of DLPack as others make them, honest ones and those that do not describe memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import opweave as ow
import pytest
from harness.capsules import BFLOAT, COMPLEX, Maker
from opweave.utils import dlpack


@pytest.fixture
def capsule() -> Maker:
    return Maker()


@pytest.mark.parametrize("versioned", [False, True])
def test_honest_ones(capsule: Any, versioned: bool) -> None:
    assert ow.from_dlpack(capsule(versioned=versioned)).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert ow.from_dlpack(capsule((2, 2), (4, 1), versioned=versioned, byte_offset=8)).tolist() == [[2, 3], [6, 7]]
    assert ow.from_dlpack(capsule((2, 0, 3), versioned=versioned, data=None)).shape == (2, 0, 3)
    assert ow.from_dlpack(capsule((), versioned=versioned)).item() == 0
    assert ow.from_dlpack(capsule((4,), versioned=versioned, code=COMPLEX, bits=64)).dtype is ow.complex64
    assert ow.from_dlpack(capsule((16,), versioned=versioned, code=BFLOAT, bits=16)).dtype is ow.bfloat16
    assert len(capsule.deleted) == 6


def test_the_smallest_stride_of_a_dimension_of_one_element(capsule: Any) -> None:
    for stride in (-(2**63), 2**63 - 1):
        assert ow.from_dlpack(capsule((1, 3), (stride, 2))).clone().stride() == (3, 1)


HOSTILE = {
    "another device": {"device_type": 2},
    "no memory": {"data": None},
    "memory past the last address": {"data": 2**64 - 16},
    "an offset past the last address": {"byte_offset": 2**64 - 16},
    "an address that is no multiple": {"byte_offset": 2},
    "a negative size": {"shape": (-8,)},
    "too many elements": {"shape": (2**62, 2**62)},
    "too many bytes": {"shape": (2**62,)},
    "a stride beyond": {"shape": (3,), "strides": (2**62,)},
    "the smallest stride": {"shape": (3,), "strides": (-(2**63),)},
    "no shape": {"shape": None, "ndim": 1},
    "fewer than no dimensions": {"ndim": -1},
    "a thousand dimensions": {"ndim": 1000},
    "several lanes": {"lanes": 4},
    "no bits": {"bits": 0},
    "an unknown code": {"code": 99},
    "eight bits of a float": {"bits": 8},
    "a later version": {"major": 2},
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("versioned", [False, True])
def test_hostile_ones(capsule: Any, what: str, versioned: bool) -> None:
    if what == "a later version" and not versioned:
        return
    with pytest.raises((BufferError, RuntimeError)):
        ow.from_dlpack(capsule(versioned=versioned, **HOSTILE[what]))
    assert len(capsule.deleted) == 1


def test_read_only_memory(capsule: Any) -> None:
    with pytest.raises(RuntimeError, match="read-only"):
        ow.from_dlpack(capsule(flags=1)).add_(1)
    ow.from_dlpack(capsule(flags=2)).add_(1)


class Immutable:
    """As arrays of jax: the capsule cannot say that the memory must not be written, NumPy is told."""

    def __init__(self) -> None:
        self.memory = np.arange(3.0)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        view = self.memory.view()
        view.flags.writeable = False
        return view

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self.memory.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@pytest.mark.filterwarnings("error")
def test_memory_of_immutable_arrays() -> None:
    array = Immutable()
    t = ow.from_dlpack(array)
    assert t.data_ptr() == array.memory.ctypes.data
    with pytest.raises(RuntimeError, match="read-only"):
        t.add_(1)
    for function in (ow.asarray, ow.as_tensor, ow.tensor):
        assert function(array).add_(1).tolist() == [1, 2, 3]
    assert array.memory.tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="read-only"):
        ow.asarray(array, copy=False).add_(1)


def test_negative_strides_are_not_passed_on() -> None:
    t = ow.from_numpy(np.arange(3.0)[::-1])
    for version in (None, (1, 0)):
        with pytest.raises(BufferError, match="the strides are negative"):
            t.__dlpack__(max_version=version)
    assert np.from_dlpack(t.clone()).tolist() == [2, 1, 0]


def test_the_module_of_torch() -> None:
    t = ow.arange(3)
    assert dlpack.from_dlpack(dlpack.to_dlpack(t)).data_ptr() == t.data_ptr()
    assert ow.to_dlpack is dlpack.to_dlpack
    assert t.__dlpack_device__()[0] == dlpack.DLDeviceType.kDLCPU
