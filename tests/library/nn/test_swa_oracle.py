"""Averages of models, and their schedule, beside torch's."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

SETUP = """
import importlib
S = importlib.import_module(L.__name__ + '.optim.swa_utils')
m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
def train(average, steps=3):
    for step in range(steps):
        m(x(5, 3))
        for p in m.parameters():
            p.data.add_(step + 1.0)
        average.update_parameters(m)
    return average
"""
PROGRAMS = programs("""
a = train(S.AveragedModel(m)); dict(a.state_dict()), a.eval()(x(2, 3)), a
---
a = train(S.AveragedModel(m, multi_avg_fn=S.get_ema_multi_avg_fn(0.9), use_buffers=True)); dict(a.state_dict())
---
a = train(S.AveragedModel(m, avg_fn=S.get_ema_avg_fn(0.9))); dict(a.state_dict())
---
a = train(S.AveragedModel(m, avg_fn=S.get_swa_avg_fn())); dict(a.state_dict())
---
S.AveragedModel(m, avg_fn=S.get_swa_avg_fn(), multi_avg_fn=S.get_swa_multi_avg_fn())
---
S.get_ema_avg_fn(1.5)
---
a = train(S.AveragedModel(m)); S.update_bn([x(5, 3), x(4, 3, step=0.2)], a); dict(a.state_dict())
---
a = train(S.AveragedModel(m)); S.update_bn([(x(5, 3), 1)], a)
a.module[1].momentum, a.training, a.module[1].running_mean
---
o = L.optim.SGD([{'params': m[0].parameters(), 'lr': 0.5}, {'params': m[1].parameters(), 'lr': 0.1}])
s = S.SWALR(o, 0.05, anneal_epochs=4); rates = []
for _ in range(7):
    rates.append(s.get_last_lr()); o.step(); s.step()
rates
---
o = L.optim.SGD(m.parameters(), lr=0.5)
s = S.SWALR(o, [0.05], anneal_epochs=3, anneal_strategy='linear'); rates = []
for _ in range(6):
    rates.append(s.get_last_lr()); o.step(); s.step()
rates
---
S.SWALR(L.optim.SGD(m.parameters(), lr=0.5), 0.1, anneal_strategy='other')
---
S.SWALR(L.optim.SGD(m.parameters(), lr=0.5), 0.1, anneal_epochs=-1)
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text)
