"""`utils.weak`, `utils.collect_env`."""

from __future__ import annotations

import copy
import gc
import subprocess
import sys
from typing import Any

import opweave as ow
import pytest
from opweave.utils import collect_env, weak


def test_keys_are_told_apart_by_what_they_are() -> None:
    first, second = ow.ones(2), ow.ones(2)
    found = weak.WeakTensorKeyDictionary({first: 1})
    found[second] = 2
    assert (found[first], found[second], len(found), found.get(ow.ones(2))) == (1, 2, 2, None)
    assert ow.ones(2) not in found
    assert 3 not in found  # of which there are no weak references
    assert [each is key for each, key in zip(found, (first, second), strict=True)] == [True, True]
    assert found.pop(first) == 1
    assert found.setdefault(second, 5) == 2
    assert first not in found
    with pytest.raises(KeyError):
        del found[first]


def test_keys_leave_with_their_objects() -> None:
    keys = [ow.ones(1) for _ in range(4)]
    found = weak.WeakIdKeyDictionary({key: number for number, key in enumerate(keys)})
    seen = []
    for key, value in found.items():
        seen.append(value)
        if value == 0:
            del keys[1:3]
        del key
    gc.collect()
    assert seen == [0, 3]
    assert sorted(found.values()) == [0, 3]
    assert len(found.keyrefs()) == 2
    twin, deep = copy.copy(found), copy.deepcopy(found)
    assert twin == found == deep
    assert (found | {keys[0]: 7})[keys[0]] == 7
    assert ({keys[0]: 7} | found)[keys[0]] == 0
    found |= {keys[0]: 8}
    assert (found[keys[0]], twin[keys[0]]) == (8, 0)


def test_references() -> None:
    tensor = ow.ones(1)
    reference, same = weak.WeakIdRef(tensor), weak.WeakIdRef(tensor)
    assert (reference == same, hash(reference) == hash(same), reference() is tensor) == (True, True, True)
    of_tensor = weak.TensorWeakRef(tensor)
    assert of_tensor() is tensor
    gone: list[Any] = []
    last = weak.WeakIdRef(tensor, gone.append)
    del tensor
    assert (of_tensor(), reference == same, reference == reference, gone == [last]) == (None, False, True, True)
    with pytest.raises(AssertionError, match=r"expected opweave\.Tensor, got <class 'int'>"):
        weak.TensorWeakRef(3)


def test_report_of_the_environment() -> None:
    text = collect_env.get_pretty_env_info()
    for part in (f"opweave version: {ow.__version__}", "Is CUDA available: False", f"[pip3] opweave=={ow.__version__}"):
        assert part in text
    assert collect_env.get_env_info()._replace(pip_packages="")._fields[0] == "opweave_version"
    shown = subprocess.run(
        [sys.executable, "-m", "opweave.utils.collect_env"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == f"Collecting environment information...\n{text}\n"
