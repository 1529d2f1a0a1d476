"""Calls with sparse tensors, and what torch 2.13 answered, to the letter: texts of tensors, values, errors.

The calls and the answers are in sparse_calls.txt, separated by lines of `%%`. Where opweave does more than torch, or
checks more, other files have the tests.
"""

from pathlib import Path

import opweave as torch
import pytest

CALLS = [
    each.split("\n", 1)
    for each in Path(__file__).with_name("sparse_calls.txt").read_text(encoding="utf-8").rstrip("\n").split("\n%%\n")
]


def tensors():
    """Tensors of each layout, by the names that the calls have for them."""
    indices, values = [[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0]
    coalesced = torch.sparse_coo_tensor(indices, values, (2, 3)).coalesce()
    dense = coalesced.to_dense()
    return {
        "torch": torch,
        "i": indices,
        "v": values,
        "x": coalesced,
        "u": torch.sparse_coo_tensor([[0, 0, 1], [2, 2, 0]], values, (2, 3)),
        "h": torch.sparse_coo_tensor([[0, 1, 1]], torch.arange(6.0).reshape(3, 2), (2, 2)),
        "d": dense,
        "c": coalesced.to_sparse_csr(),
        "cc": coalesced.to_sparse_csc(),
        "b": torch.arange(16.0).reshape(4, 4).to_sparse_bsr((2, 2)),
        "bc": torch.stack([dense, dense * 2]).to_sparse_csr(),
        "y3": torch.stack([dense, dense * 2]).to_sparse(),
        "d3": torch.ones(2, 3, 2),
        "m": torch.ones(3, 2),
        "ve": torch.ones(3),
    }


@pytest.mark.parametrize(("call", "answer"), CALLS, ids=[call for call, _ in CALLS])
def test_answer_is_that_of_torch(call, answer):
    try:
        found = "=> " + repr(eval(call, tensors()))
    except Exception as error:
        found = f"!! {type(error).__name__}: {error}"
    assert found.replace("opweave", "torch") == answer
