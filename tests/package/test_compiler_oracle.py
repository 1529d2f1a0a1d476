"""compile returns what it is given and refuses what torch refuses; marks of the compiler; cond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from harness.programs import check, programs
from opweave import nn

SETUP = """
def f(x):
    return x + 1
def g(x):
    return x * 5
x = L.tensor([1.0, 2.0], requires_grad=True)
"""

PROGRAMS = programs("""
L.compile(f, backend="eager")(x)
---
@L.compile(backend="eager")
def h(x):
    return x * 2
h(x)
---
L.compile(f, backend="eager", options={"a": 1}, fullgraph=True, dynamic=True) is None
---
L.compile(f, mode="fast")
---
L.compile(f, mode="max-autotune", options={})
---
L.compile(f, backend="eager", mode="default", options={"a": 1})
---
L.compile(f, options=3)
---
L.compile(f, dynamic="x")
---
L.compile(3)
---
L.compile()(None)
---
L.compile()("f")
---
L.compile(f, True)
---
L.compile(f, unknown=True)
---
m = nn.Linear(2, 2); (m.compile(), sorted(m.state_dict()))
---
nn.Linear(2, 2).compile(mode="fast")
---
nn.Linear(2, 2).compile(3)
---
[L.compiler.is_compiling(), L.compiler.is_dynamo_compiling(), L.compiler.is_exporting(), L.compiler.reset()]
---
[L.compiler.allow_in_graph(f) is f, L.compiler.allow_in_graph([f, g]) == [f, g]]
---
L.compiler.allow_in_graph(3)
---
L.compiler.assume_constant_result(f) is f, L.compiler.cudagraph_mark_step_begin()
---
[L.compiler.disable(f)(x), L.compiler.disable()(f)(x), L.compiler.disable(reason="slow")(f)(x)]
---
L.compiler.disable(3)
---
L.compiler.list_backends()
---
L.cond(True, f, g, (x,)), L.cond(0, f, g, [x]), L.cond(2.5, f, g, (3,))
---
L.cond(L.tensor(True), f, g, (x,)), L.cond(L.tensor([[0]]), f, g, (x,))
---
L.cond(x.detach().sum() > 0, f, g, (x * 2,)).sum().backward(); x.grad
---
L.cond(L.tensor(False), lambda: L.ones(1), lambda: L.zeros(1))
---
L.cond("x", f, g, (x,))
---
L.cond(x.detach(), f, g, (x,))
---
L.cond(L.tensor(True), 3, g, (x,))
---
L.cond(L.tensor(True), f, g, x.detach())
---
L.cond(L.tensor(True), f, g, (3,))
---
L.cond(True, 3, g, (x,))
""")


def test_beside_torch() -> None:
    for text in PROGRAMS:
        check(SETUP + text)


@pytest.mark.parametrize("backend", ["eager", lambda graph, inputs: graph])
def test_what_comes_back_is_what_was_given(backend: Any) -> None:
    def function(x: opweave.Tensor) -> opweave.Tensor:
        return x

    decorate: Callable[..., Any] = opweave.compile(backend=backend)
    assert decorate(function) is function
    layer = nn.Linear(2, 3)
    assert opweave.compile(layer, backend=backend) is layer
    assert opweave.compiler.disable(layer) is layer


def test_backends_that_torch_does_not_have() -> None:
    with pytest.raises(RuntimeError, match="Invalid backend: 'fast'"):
        opweave.compile(nn.Linear(2, 3), backend="fast")
    for name in opweave.compiler.list_backends(None):
        opweave.compile(print, backend=name)
