"""testing.assert_close and make_tensor beside torch's, and autocast."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

SETUP = """
t = L.tensor
A, M = L.testing.assert_close, L.testing.make_tensor
"""
PROGRAMS = programs("""
A(t([1., 2.]), t([1., 2.1]))
---
A(t(1.), t(1.1))
---
A(1.0, 1.1)
---
A(1, 2)
---
A(t([1., 2.]), t([1., 2.]).double())
---
A(t([1., 2.]), t([1., 2.]).double(), check_dtype=False)
---
A(t([1., 2.]), t([1., 2., 3.]))
---
A([1.0, 2.0], [1.0, 2.1])
---
A({'a': 1.0}, {'b': 1.0})
---
A([1.0], [1.0, 2.0])
---
A(t([1, 2]), t([1, 3]))
---
A(t([float('nan')]), t([float('nan')]))
---
A(t([float('nan')]), t([float('nan')]), equal_nan=True)
---
A(t([True]), t([False]))
---
A('a', 'a')
---
A(L.ones(2), 'a')
---
A(L.ones(2), L.zeros(2), msg=lambda m: 'before ' + m)
---
A(L.ones(2), L.zeros(2), msg='said')
---
A(L.ones(2), L.zeros(2), rtol=1.0)
---
A(1, 1.0)
---
A(L.ones(2, 3).t(), L.ones(3, 2), check_stride=True)
---
A(None, None), A(True, True), A({'x': [L.ones(1)]}, {'x': [L.ones(1)]}), A(L.ones(2), L.ones(2) + 1e-7)
---
A(L.ones(1), None)
---
A({'x': [L.ones(1)]}, {'x': [L.zeros(1)]})
---
A(L.ones(2, 2), L.ones(2, 2) * 1.5, rtol=0.1, atol=0.2)
---
A(L.ones(2, dtype=L.complex64), L.ones(2, dtype=L.complex64) * 1j)
---
M((2, 3), dtype=L.float32, device='cpu'), M(4, dtype=L.int64, device='cpu', low=0, high=3)
---
M(3, dtype=L.bool, device='cpu'), M(3, dtype=L.uint8, device='cpu'), M(2, dtype=L.complex64, device='cpu')
---
M((3, 4), dtype=L.float64, device='cpu', low=-1, high=1, noncontiguous=True, requires_grad=True).is_contiguous()
---
M(5, dtype=L.int32, device='cpu', low=0, high=2, exclude_zero=True)
---
M(3, dtype=L.float32, device='cpu', low=3, high=1)
---
M(3, dtype=L.int64, device='cpu', requires_grad=True)
---
m = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
with L.autocast('cpu', dtype=L.bfloat16):
    a = m(x(2, 3)); b = x(2, 3) @ x(3, 2); c = x(2, 3) + 1; d = F.mse_loss(b, b); inside = L.is_autocast_enabled('cpu')
    with L.autocast('cpu', enabled=False):
        e = x(2, 3) @ x(3, 2)
    f = L.cat([b, x(2, 2)]); h = x(2, 3, dtype='float64') @ x(3, 2, dtype='float64')
[str(each.dtype).rpartition('.')[2] for each in (b, c, d, e, f, h)], a.shape, inside, L.is_autocast_enabled('cpu')
---
m = nn.Linear(3, 4)
with L.amp.autocast('cpu'):
    loss = m(x(2, 3)).square().sum()
loss.backward(); str(m.weight.grad.dtype).rpartition('.')[2], loss
---
@L.amp.autocast('cpu')
def product(a):
    return a @ a.T
str(product(x(2, 3)).dtype).rpartition('.')[2], L.get_autocast_dtype('cpu') is L.bfloat16
---
s = L.amp.GradScaler('cpu', init_scale=8.0, growth_interval=2); w = nn.Parameter(L.ones(2))
o = L.optim.SGD([w], lr=0.5)
seen = []
for factor in (1.0, 1.0, float('inf'), 1.0):
    o.zero_grad(); s.scale((w * factor).sum()).backward(); s.step(o); s.update()
    seen.append((s.get_scale(), w.tolist()))
seen, s.state_dict()
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text)
