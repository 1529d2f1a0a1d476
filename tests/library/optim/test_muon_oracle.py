"""Muon beside torch's: steps, its state and its errors. Directions are computed in bfloat16."""

from __future__ import annotations

import pytest
from harness.oracle import Like
from harness.programs import check

LIKE = Like(rtol=2e-2, atol=2e-2, scale=True, strides=False, grad=False)


@pytest.mark.parametrize(
    "options",
    ["", "lr=0.02, momentum=0.5, weight_decay=0.3", "nesterov=False, ns_steps=2, eps=1e-3",
     "adjust_lr_fn='match_rms_adamw', ns_coefficients=(2.0, -1.5, 0.5)"],
)  # fmt: skip
def test_steps(options: str) -> None:
    check(
        f"""
a, b = g(4, 3), g(3, 5, step=0.2)
o = L.optim.Muon([a, b], {options})
for k in range(5):
    o.zero_grad()
    ((a @ b).square().sum() + (k * a).sin().sum()).backward()
    o.step()
a, b, o.state_dict(), repr(o)
""",
        LIKE,
    )


@pytest.mark.parametrize("call", ["Muon([g(3)])", "Muon([g(3, 2)], lr=-1)", "Muon([g(3, 2)], momentum=-1.0)",
                                  "Muon([g(3, 2)], weight_decay=-1.0)",
                                  "Muon([g(3, 2)], adjust_lr_fn='other')"])  # fmt: skip
def test_wrong_options(call: str) -> None:
    check(f"L.optim.{call}")
