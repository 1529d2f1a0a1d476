"""Arguments of `_foreach_*` by the names that torch's overloads have; the numbers are torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda x: ow._foreach_add(x, other=x, alpha=2), [3.0, 6.0]),
        (lambda x: ow._foreach_add(self=x, scalar=2), [3.0, 4.0]),
        (lambda x: ow._foreach_mul(x, scalars=[1, 2]), [1.0, 4.0]),
        (lambda x: ow._foreach_addcmul(x, x, x, value=2), [3.0, 10.0]),
        (lambda x: ow._foreach_addcmul(x, tensor1=x, tensor2=x, scalars=[1, 2]), [2.0, 10.0]),
        (lambda x: ow._foreach_addcdiv(x, x, x, scalars=ow.tensor([1.0, 2.0])), [2.0, 4.0]),
        (lambda x: ow._foreach_lerp(x, tensors1=[each + 2 for each in x], weight=0.5), [2.0, 3.0]),
        (lambda x: ow._foreach_lerp(x, [each + 2 for each in x], weights=x), [3.0, 6.0]),
        (lambda x: ow._foreach_pow(x, exponent=2), [1.0, 4.0]),
        (lambda x: ow._foreach_pow(2, exponent=x), [2.0, 4.0]),
        (lambda x: ow._foreach_norm(x, ord=1), [1.0, 2.0]),
        (lambda x: ow._foreach_maximum(x, scalars=[3, 1]), [3.0, 2.0]),
        (lambda x: ow._foreach_copy_(x, src=[each + 1 for each in x]), [2.0, 3.0]),
        (lambda x: ow._foreach_add_(x, other=ow.tensor(2.0), alpha=2), [5.0, 6.0]),
    ],
)
def test_names(call: Callable[[Any], Any], want: list[float]) -> None:
    assert [each.item() for each in call([ow.tensor(1.0), ow.tensor(2.0)])] == want


def test_names_that_there_are_not() -> None:
    x = [ow.ones(1)]
    for call in (
        lambda: ow._foreach_add(x, others=x),
        lambda: ow._foreach_add(x, x, other=x),
        lambda: ow._foreach_add(),
    ):
        with pytest.raises(TypeError):
            call()
