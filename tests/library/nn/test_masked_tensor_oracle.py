"""Masked tensors beside torch's: what is printed, what counts afterwards, and gradients."""

from __future__ import annotations

import opweave
import pytest
from harness.programs import check, programs
from opweave.masked import as_masked_tensor, masked_tensor

SETUP = """
import warnings
warnings.simplefilter('ignore')
M = L.masked
d, k = x(2, 3), L.tensor([[True, False, True], [False, True, True]])
m = M.masked_tensor(d, k)
"""
PRINTED = """
m
m + 1
m * m - 2 / m
m.exp(), m.abs().sqrt(), m.clamp(min=0), -m
m > 0
m.t(), m.reshape(3, 2), m[0], m[:, 1], m[1, 2], m.unsqueeze(0)
L.cat([m, m]), L.stack([m[0], m[1]]), m.split(1)
m.sum(), m.mean(), m.amax(), m.amin(), m.prod(), m.argmax()
L.sum(m, 1), m.mean(0), m.amax(1), m.amin(0, True), m.prod(1), m.argmin(1), m.var(1), m.std(1)
m.softmax(-1)
L.where(d > 0, m, -m)
M.masked_tensor(i(9, 4), L.tensor([True, False, True, True]))
M.masked_tensor(L.tensor(2.5), L.tensor(True)), M.masked_tensor(L.tensor(2), L.tensor(False))
M.masked_tensor(d > 0, k)
M.masked_tensor(d, L.tensor([[True, False, True], [False, False, False]])).sum(1)
m.to(L.float64), m.clone(), m.detach(), L.ones_like(m)
"""


@pytest.mark.parametrize("text", PRINTED.strip().splitlines())
def test_printed(text: str) -> None:
    check(f"{SETUP}r = {text}\n[repr(each) for each in (r if isinstance(r, (tuple, list)) else [r])]")


PROGRAMS = programs("""
m.to_tensor(0.5), m.get_data(), m.get_mask(), M.is_masked_tensor(m), M.is_masked_tensor(d), m.shape, m.dtype
---
r = m.exp().sum(1); r.to_tensor(0.0), r.get_mask(), (m + m).get_mask()
---
a = M.masked_tensor(d.abs() + 0.1, k, requires_grad=True)
(a.log() * 2).sum().backward(); a.grad.to_tensor(0.0), a.grad.get_mask(), M.is_masked_tensor(a.grad)
---
b = g(2, 3)
a = M.as_masked_tensor(b, k); r = (a * a).sum(); r.get_data().backward(); r.to_tensor(0.0), b.grad is not None
---
a = M.masked_tensor(L.tensor([1.0, 2.0, 3.0]), L.tensor([True, False, True]))
a.add_(1); a.to_tensor(0.0)
---
M.masked_tensor(1.0, k)
---
M.masked_tensor(d, 1.0)
---
M.masked_tensor(d, d)
---
M.masked_tensor(d, k[0])
---
M.masked_tensor(d, k[:, :2])
---
M.masked_tensor(d.bfloat16(), k)
---
M.masked_tensor(m, k)
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text)


def test_others_than_torch_has() -> None:
    """Scans, norms, and what is made of elementwise functions; and what has no meaning says what to use instead."""
    m = masked_tensor(opweave.tensor([[3.0, 7.0, 4.0], [1.0, 2.0, 5.0]]), opweave.tensor([[True, False, True]] * 2))
    assert m.norm(dim=1).get_data().tolist() == [5.0, pytest.approx(26**0.5)]
    assert m.cumsum(1).to_tensor(0.0).tolist() == [[3.0, 0.0, 7.0], [1.0, 0.0, 6.0]]
    assert m.flatten().get_mask().tolist() == [True, False, True] * 2
    assert m.all(1).get_data().tolist() == [True, True]
    assert m.any().item() is True
    with pytest.raises(ValueError, match="does not count"):
        m[0, 1].item()
    with pytest.raises(ValueError, match="Input masks must match"):
        m + masked_tensor(m.get_data(), ~m.get_mask())
    with pytest.raises(TypeError, match=r"sort\(\) is not defined for masked tensors: use get_data"):
        m.sort()
    with pytest.raises(TypeError, match=r"cat\(\) of masked tensors and others"):
        opweave.cat([m, m.get_data()])


def test_elements_that_do_not_count_have_no_gradient() -> None:
    data = opweave.tensor([1.0, 2.0, 3.0], requires_grad=True)
    as_masked_tensor(data, opweave.tensor([True, False, True])).square().sum().backward()
    assert data.grad.tolist() == [2.0, 0.0, 6.0]
