"""Ways of computing attention and causal masks beside torch's."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

PROGRAMS = programs("""
with A.sdpa_kernel([A.SDPBackend.MATH, A.SDPBackend.FLASH_ATTENTION]):
    y = F.scaled_dot_product_attention(x(2, 3, 4), x(2, 5, 4), x(2, 5, 4))
y, [int(each) for each in (A.SDPBackend.ERROR, A.SDPBackend.MATH, A.SDPBackend.CUDNN_ATTENTION)]
---
with A.sdpa_kernel('math'):
    pass
---
m = B.causal_lower_right(3, 5)
y = F.scaled_dot_product_attention(x(2, 3, 4), x(2, 5, 4), x(2, 5, 4), attn_mask=m)
y, m.variant, m.seq_len_q, m.seq_len_kv
---
F.scaled_dot_product_attention(x(2, 3, 4), x(2, 5, 4), x(2, 5, 4), attn_mask=B.causal_upper_left(3, 5))
---
B.CausalBias(1, 2, 3)
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_attention(text: str) -> None:
    check(
        "import importlib\n"
        "A, B = (importlib.import_module(f'{L.__name__}.nn.attention{n}') for n in ('', '.bias'))\n" + text
    )
