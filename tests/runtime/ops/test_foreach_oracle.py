"""`_foreach_*`: operators over lists of tensors, as torch's optimizers call them."""

from __future__ import annotations

import pytest
from harness import expressions

LISTS = "v = [a, z, a[0]]; w = [a + 1, z + 2, a[1]]; "
CALLS = r"""
L._foreach_add(v, 1)
L._foreach_add(v, [1, 2, 3])
L._foreach_add(v, w, alpha=2)
L._foreach_add(v, L.tensor(3.0))
L._foreach_sub(v, w)
L._foreach_mul(v, w)
L._foreach_div(v, L.tensor(2.0))
L._foreach_pow(v, 2)
L._foreach_pow(2, v)
L._foreach_pow(v, [2, 3, 4])
L._foreach_addcmul(v, w, w)
L._foreach_addcmul(v, w, w, 3)
L._foreach_addcmul(v, w, w, [1.0, 2.0, 3.0])
L._foreach_addcdiv(v, w, w, L.tensor([1.0, 2.0, 3.0]))
L._foreach_addcdiv(v, w, w, value=0.5)
L._foreach_lerp(v, w, 0.25)
L._foreach_lerp(v, w, w)
L._foreach_maximum(v, w)
L._foreach_minimum(v, 2)
L._foreach_clamp_min(v, 2)
L._foreach_norm(v)
L._foreach_norm(v, 1)
L._foreach_powsum(v)
L._foreach_powsum(v, 3, dtype=L.float64)
L._foreach_powsum([z.half(), L.complex(z, z)], 0.5)
L._foreach_max(v)
L._foreach_sqrt(tuple(v))
L._foreach_neg(v)
L._foreach_clone(v)
L._foreach_add_([each.clone() for each in v], 1)
r = [each.clone() for each in v]; L._foreach_addcmul_(r, w, w, [1.0, 2.0, 3.0]); r
r = [each.clone() for each in v]; L._foreach_zero_(r); r
r = [each.clone() for each in v]; L._foreach_copy_(r, w); r
r = [each.clone() for each in v]; L._foreach_sqrt_(r); r
L._foreach_add([], 1)
L._foreach_add(v, [1, 2])
L._foreach_add(v, w[:2])
L._foreach_addcmul(v, w, w[:2])
"""


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_calls(call: str) -> None:
    expressions.check(LISTS + call)
