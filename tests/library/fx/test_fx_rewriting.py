"""Parts of graphs that are like a pattern are replaced."""

from __future__ import annotations

import opweave as ow
import pytest
from opweave import fx, nn
from opweave.fx.subgraph_rewriter import replace_pattern_with_filters


def targets(module):
    return [
        getattr(n.target, "__name__", n.target) for n in module.graph.nodes if n.op not in ("placeholder", "output")
    ]


def test_the_page_of_torch():
    class M(nn.Module):
        def forward(self, x, w1, w2):
            m1 = ow.cat([w1, w2]).sum()
            m2 = ow.cat([w1, w2]).sum()
            return x + ow.max(m1) + ow.max(m2)

    def pattern(w1, w2):
        return ow.cat([w1, w2]).sum()

    def replacement(w1, w2):
        return ow.stack([w1, w2])

    module = fx.symbolic_trace(M())
    matches = fx.replace_pattern(module, pattern, replacement)
    assert [match.anchor.name for match in matches] == ["sum_1", "sum_2"]
    assert targets(module) == ["stack", "stack", "max", "add", "max", "add"]
    x, w = ow.zeros(1), ow.ones(2)
    assert module(x, w, w).item() == 2


def test_results_that_are_used_by_the_next_match():
    module = fx.symbolic_trace(lambda x: ow.sigmoid(ow.relu(ow.sigmoid(ow.relu(x)))))
    assert len(fx.replace_pattern(module, lambda x: ow.sigmoid(ow.relu(x)), lambda x: x + 1)) == 2
    assert module(1) == 3


def test_what_is_no_match():
    cases = {
        "used elsewhere": (lambda x: (ow.relu(x).neg(), ow.relu(x)), lambda x: ow.relu(x).neg(), 1),
        "inner value returned": (lambda x: (lambda y: (y.neg(), y))(ow.relu(x)), lambda x: ow.relu(x).neg(), 0),
        "another number": (lambda x: x + 2, lambda x: x + 1, 0),
        "the same number": (lambda x: x + 1, lambda x: x + 1, 1),
        "another type": (lambda x: x + 1.0, lambda x: x + 1, 0),
        "one input twice": (lambda x, y: x * y, lambda x: x * x, 0),
        "both inputs the same": (lambda x: x * x, lambda x, y: x * y, 1),
        "overlapping": (lambda x: x.neg().neg().neg(), lambda x: x.neg().neg(), 1),
        "names and positions": (lambda x: ow.sum(x, dim=1), lambda x: ow.sum(x, 1), 1),
        "a number for an input": (lambda x: ow.add(x, 3), lambda x, y: ow.add(x, y), 1),
    }
    failed = {}
    for name, (program, pattern, wanted) in cases.items():
        replacement = (lambda x, y: x) if pattern.__code__.co_argcount == 2 else (lambda x: x)
        module = fx.symbolic_trace(program)
        got = len(fx.replace_pattern(module, pattern, replacement))
        if got != wanted:
            failed[name] = got
        module.graph.lint()
    assert not failed


def test_several_results():
    def program(x):
        y = ow.relu(x)
        early = y + 1
        return early * ow.tanh(x)

    module = fx.symbolic_trace(program)
    fx.replace_pattern(module, lambda x: (ow.relu(x), ow.tanh(x)), lambda x: (x - 1, x - 2))
    assert module(5) == 15


def test_replacements_bring_their_modules():
    class Replacement(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.gain = nn.Parameter(ow.ones(2))

        def forward(self, x):
            return self.layer(x) * self.gain

    class Program(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x).tanh()

    class Pattern(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x)

    module = fx.symbolic_trace(Program())
    new = fx.symbolic_trace(Replacement())
    fx.replace_pattern(module, fx.symbolic_trace(Pattern()), new)
    assert [name for name, _ in module.named_children()] == ["layer"]
    x = ow.randn(1, 2)
    assert ow.equal(module(x), new(x).tanh())


def test_filters_and_literals():
    module = fx.symbolic_trace(lambda x: (x + 1) * (x + 2))
    replaced = replace_pattern_with_filters(
        module,
        lambda x: x + 5,
        lambda x: x - 5,
        match_filters=[lambda match, graph, pattern: match.returning_nodes[0].args[1] == 2],
        ignore_literals=True,
    )
    assert [(each.anchor.name, [n.name for n in each.replacements]) for each in replaced] == [("add_1", ["sub"])]
    assert module(10) == 55


def test_errors():
    module = fx.symbolic_trace(lambda x: x + 1)
    with pytest.raises(RuntimeError, match="the replacement has 2 arguments and the pattern 1"):
        fx.replace_pattern(module, lambda x: x + 1, lambda x, y: x)
    with pytest.raises(RuntimeError, match="the replacement has 2 results and the pattern 1"):
        fx.replace_pattern(fx.symbolic_trace(lambda x: x + 1), lambda x: x + 1, lambda x: (x, x))
    with pytest.raises(AssertionError, match="takes a replacement or"):
        replace_pattern_with_filters(module, lambda x: x + 1)
