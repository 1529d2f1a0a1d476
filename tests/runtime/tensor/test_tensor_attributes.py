"""Attributes that users set on tensors: they stay with the object, its copies and its pickles, and end with it."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import opweave
import pytest


class Labelled(opweave.Tensor):
    """A subclass, which has attributes in the same place."""


@pytest.mark.parametrize("kind", [opweave.Tensor, Labelled])
def test_attributes(kind: type[opweave.Tensor]) -> None:
    t = opweave.ones(2).as_subclass(kind)
    assert not hasattr(t, "label")
    t.label = "seven"  # type: ignore[attr-defined]
    assert t.label == "seven"  # type: ignore[attr-defined]
    assert vars(t) == {"label": "seven"}
    assert not hasattr(t + 1, "label")
    assert not hasattr(t[0], "label")
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(other) is kind
        assert vars(other) == {"label": "seven"}
        assert other.tolist() == [1, 1]
    del t.label  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="label"):
        _ = t.label  # type: ignore[attr-defined]
    t.__dict__ = {"other": 1}
    assert t.other == 1  # type: ignore[attr-defined]


def test_what_the_class_defines_is_no_attribute() -> None:
    t = opweave.ones(2)
    for name in ("shape", "dtype", "_h", "_edge"):
        with pytest.raises(AttributeError):
            setattr(t, name, 1)
    assert vars(t) == {}


def test_cycles_of_attributes_are_collected() -> None:
    t = opweave.ones(2)
    t.itself = t  # type: ignore[attr-defined]
    opweave.ones(2).__dict__["alone"] = 1
    ended = weakref.ref(t)
    del t
    gc.collect()
    assert ended() is None
