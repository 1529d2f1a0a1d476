"""What `segment_reduce` refuses where torch reads memory that is not the tensor's."""

from __future__ import annotations

import opweave as ow
import pytest


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"offsets": [0, 7]}, "reach beyond the 6 positions"),
        ({"offsets": [-1, 2]}, "reach beyond"),
        ({"offsets": [1, 3, 2]}, "a difference of offsets is a negative value"),
        ({"offsets": []}, "at least 1 element"),
        ({"lengths": [4, 4], "unsafe": True}, "reach beyond"),
        ({"lengths": [-2, 4], "unsafe": True}, "negative"),
        ({"lengths": [[2, 4]], "axis": 1}, r"got shapes \[1, 2\] and \[6, 2\]"),
    ],
)
def test_segments_outside(given: dict[str, object], message: str) -> None:
    tensors = {key: ow.tensor(value, dtype=ow.int64) for key, value in given.items() if isinstance(value, list)}
    with pytest.raises(RuntimeError, match=message):
        ow.segment_reduce(ow.ones(6, 2), "sum", **(given | tensors))
