"""Orders of arguments that torch has given up but takes yet, and other arguments in forms that old programs use."""

from __future__ import annotations

import opweave
import pytest
from harness import expressions

CALLS = r"""
L.add(a, 2, a)
a.add(2, a)
a.clone().add_(2, a)
L.add(a, 2, other=a)
L.sub(a, 2, a)
a.clone().sub_(2, other=a)
L.add(a, 2, a, out=L.empty(2, 3))
L.addcmul(a, 2, a, a)
L.addcmul(a, 2, tensor1=a, tensor2=a)
a.clone().addcdiv_(2, a, a + 1)
L.addmm(2, a[:, :2], 3, a, a.T)
L.addmm(2, a[:, :2], a, a.T)
L.addmm(2, a[:, :2], 3, mat1=a, mat2=a.T)
a[:, :2].addmm(2, 3, a, a.T)
a[:, :2].clone().addmm_(2, a, a.T)
L.addmv(2, a[:, 0], 3, a, a[0])
L.addr(2, a, 3, a[:, 0], a[0])
L.baddbmm(2, a[None], 3, a[None, :, :2], a[None])
L.addbmm(2, a, 3, a[None, :, :2], a[None])
L.addbmm(2, a, a[None, :, :2], a[None])
L.index_add(a, 0, L.tensor([1]), a[:1], alpha=2.0)
L.index_add(i, 0, L.tensor([1]), i[:1], alpha=2.0)
L.randint(9, (L.tensor(2), L.tensor(3))).shape
L.randint(0, 9, [L.tensor(2)]).shape
L.randint(0, 9, (L.tensor([2]),)).shape
L.randperm(256, dtype=L.uint8).sort()[0]
L.randperm(128, dtype=L.int8).sort()[0]
L.randperm(257, dtype=L.uint8)
L.randperm(129, dtype=L.int8)
"""


@pytest.mark.filterwarnings("ignore:This overload of")
def test_calls() -> None:
    expressions.check_all(CALLS.strip().split("\n"))


def test_the_warning_says_what_to_write() -> None:
    text = (
        r"This overload of addmm_ is deprecated:\n\taddmm_\(Number beta, Tensor input, Tensor mat1, Tensor mat2\)\n"
        r"Consider .*:\n\taddmm_\(Tensor input, Tensor mat1, Tensor mat2, \*, Number beta = 1, Number alpha = 1\)"
    )
    with pytest.warns(UserWarning, match=text):
        opweave.ones(2, 2).addmm_(2, opweave.ones(2, 2), opweave.ones(2, 2))  # type: ignore[call-arg,arg-type]


def test_what_is_in_no_order_is_refused() -> None:
    a = opweave.ones(2, 2)
    for call in (lambda: opweave.add(a, a, 2), lambda: opweave.addmm(2, 3, a, a), lambda: opweave.mul(a, 2, a)):
        with pytest.raises(TypeError):
            call()  # type: ignore[no-untyped-call]
