"""nn.utils.prune beside torch's: masks, what becomes of parameters, several methods on one parameter, errors."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

SETUP = """
import importlib
Q = importlib.import_module(L.__name__ + '.nn.utils.prune')
m = nn.Linear(6, 5)
state = lambda m: [dict(m.state_dict()), [name for name, _ in m.named_parameters()], m.weight, Q.is_pruned(m)]
"""
PROGRAMS = programs("""
Q.identity(m, 'weight'); m.weight.sum().backward(); state(m), m.weight_orig.grad
---
Q.l1_unstructured(m, 'weight', 0.3); m(x(2, 6)).square().sum().backward(); state(m), m.weight_orig.grad
---
Q.l1_unstructured(m, 'weight', 7, importance_scores=x(5, 6)); state(m)
---
Q.random_unstructured(m, 'weight', 0.4); state(m)
---
Q.random_structured(m, 'weight', 2, 0); state(m)
---
Q.random_structured(m, 'weight', 0, -1); state(m)
---
Q.ln_structured(m, 'weight', 0.5, 2, 1); state(m)
---
Q.ln_structured(m, 'weight', 2, float('inf'), -2, importance_scores=x(5, 6)); state(m)
---
Q.custom_from_mask(m, 'weight', L.arange(30).reshape(5, 6) % 3); state(m)
---
Q.l1_unstructured(m, 'weight', 0.3); Q.ln_structured(m, 'weight', 2, 1, 0); Q.random_unstructured(m, 'weight', 3)
h = list(m._forward_pre_hooks.values())[0]
state(m), len(m._forward_pre_hooks), len(h), [type(each).__name__ for each in h], type(h[0]).__name__
---
Q.l1_unstructured(m, 'weight', 0.3); Q.l1_unstructured(m, 'bias', 2)
y = m(x(2, 6)); Q.remove(m, 'weight'); y, m(x(2, 6)), state(m), list(m._buffers)
---
n = nn.Sequential(m, nn.Tanh(), nn.Linear(5, 3))
Q.l1_unstructured(m, 'weight', 5)
Q.global_unstructured([(n[0], 'weight'), (n[2], 'weight'), (n[2], 'bias')], pruning_method=Q.L1Unstructured, amount=0.4)
dict(n.state_dict()), n(x(2, 6)), Q.is_pruned(n)
---
n = nn.Sequential(m, nn.Linear(5, 3))
scores = {(n[0], 'weight'): x(5, 6)}
Q.global_unstructured([(n[0], 'weight'), (n[1], 'weight')], Q.L1Unstructured, scores, amount=9)
dict(n.state_dict())
---
Q.L1Unstructured(amount=2).prune(x(3, 3)), Q.LnStructured(1, 2, 0).prune(x(3, 3), default_mask=L.eye(3))
---
Q.l1_unstructured(m, 'weight', 1.5)
---
Q.l1_unstructured(m, 'weight', -2)
---
Q.l1_unstructured(m, 'weight', '2')
---
Q.l1_unstructured(m, 'weight', 31)
---
Q.ln_structured(m, 'bias', 1, 2, 0)
---
Q.ln_structured(m, 'weight', 1, 2, 2)
---
Q.l1_unstructured(m, 'weight', 1, importance_scores=x(5, 5))
---
Q.custom_from_mask(m, 'weight', L.ones(5, 5))
---
Q.global_unstructured([(m, 'weight')], Q.LnStructured, amount=1, n=2)
---
Q.global_unstructured(3, Q.L1Unstructured, amount=1)
---
Q.global_unstructured([(m, 'weight')], Q.L1Unstructured, [x(5, 6)], amount=1)
---
Q.PruningContainer(3)
---
c = Q.PruningContainer(); c._tensor_name = 'a'; c.add_pruning_method(3)
---
try:
    Q.l1_unstructured(m, 'weight', 31)
except ValueError:
    pass
state(m)
""")


@pytest.mark.parametrize("program", PROGRAMS)
def test_like_torch(program: str) -> None:
    check(SETUP + program)


def test_what_is_not_pruned_has_nothing_to_remove() -> None:
    check(SETUP + "Q.remove(nn.Linear(2, 3), 'weight')")
