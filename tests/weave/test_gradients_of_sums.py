"""Woven expressions over indices whose gradients go through sums that they use, or through one of several results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

ENTRIES = """\
- func: distances(Tensor a, Tensor b) -> Tensor
  doc: D.
  compute:
    value[i, j]: sqrt(sum((a[i, k] - b[j, k]) ** 2 for k in range(a.size(1))))
  dtypes: float64
  derivatives: auto

- func: both(Tensor p, Tensor q) -> (Tensor a, Tensor b)
  doc: D.
  compute: {'a[x]': 'p[x] * q[x]', 'b[x]': 'p[x] + q[x]'}
  dtypes: float64
  derivatives: auto

- func: one_of_both(Tensor p, Tensor q) -> (Tensor a, Tensor b)
  doc: D.
  compute: {'a[x]': 'p[x] * p[x]', 'b[x]': 'p[x] + q[x] * q[x]'}
  dtypes: float64
  derivatives: auto

- func: chosen_sum(Tensor self, Tensor by) -> Tensor
  doc: D.
  compute:
    value[]: sum(self[k] ** 2 for k in range(by.size(0)) if by[k])
    outside: error
  dtypes: float64
  derivatives: {self: auto, by: none}

- func: second_places(Tensor self) -> Tensor
  doc: D.
  compute:
    let:
      first: int(argmax(self[t, e] for e in range(self.size(1))))
    size: {t: self.size(0)}
    value[t]: int(argmax(self[t, e] if e != first else -inf for e in range(self.size(1))))
  dtypes: float64
  derivatives: none

- func: nearest(Tensor a, Tensor b) -> (Tensor distance, Tensor place)
  doc: D.
  compute:
    let: {square: 'sum((a[i, k] - b[j, k]) ** 2 for k in range(a.size(1)))'}
    distance[i]: sqrt(min(square for j in range(b.size(0))))
    place[i]: argmin(square for j in range(b.size(0)))
  dtypes: float64
  derivatives: auto

- func: between(Tensor self, Tensor at) -> Tensor
  doc: D.
  compute:
    let: {left: 'int(floor(at[i]))'}
    value[i]: self[left] + (at[i] - left) * (self[left + 1] - self[left])
    outside: {self: nearest}
  dtypes: float64
  derivatives: none

- func: squares(Tensor self, Tensor at) -> Tensor
  doc: D.
  compute:
    value[i]: self[at[i] * at[i]]
    outside: error
  dtypes: float64
  derivatives: none
"""
HEAD = """
import numpy as np
import opweave as ow
import bound as ops

rng = np.random.default_rng(5)

def leaf(*shape):
    return ow.from_numpy(rng.uniform(0.1, 2.0, shape)).requires_grad_()

def raises_index_error(function, *arguments):
    try:
        function(*arguments)
    except IndexError:
        return
    raise AssertionError("no IndexError")
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "bound_variables")
    return weave_unoptimized(written(Path(folder) / "bound.yaml", ENTRIES), out=folder)


def run(woven: Woven, code: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent)


def test_a_package_names_the_operators_that_it_exports(woven: Woven) -> None:
    """Those of gradients are none that it exports."""
    assert woven.operators == tuple(re.findall(r"^- func: (\w+)", ENTRIES, re.MULTILINE))
    run(woven, f"assert sorted(ops.__all__) == sorted({woven.operators})")


def test_gradients_through_a_sum_that_they_use(woven: Woven) -> None:
    run(
        woven,
        """
a, b = leaf(3, 4), leaf(5, 4)
difference = a.detach().numpy()[:, None] - b.detach().numpy()
np.testing.assert_allclose(ops.distances(a, b).detach().numpy(), np.sqrt((difference ** 2).sum(-1)))
assert ow.autograd.gradcheck(ops.distances, (a, b)) and ow.autograd.gradgradcheck(ops.distances, (a, b))
""",
    )


def test_gradients_at_a_position_that_lanes_share(woven: Woven) -> None:
    """The row which a minimum chose is the same for all elements of the line of the gradient."""
    run(
        woven,
        """
a, b = leaf(3, 4), leaf(5, 4)
squares = ((a.detach().numpy()[:, None] - b.detach().numpy()) ** 2).sum(-1)
distance, place = ops.nearest(a, b)
np.testing.assert_allclose(distance.detach().numpy(), np.sqrt(squares.min(1)))
assert place.tolist() == squares.argmin(1).tolist()
check = lambda a, b: ops.nearest(a, b)[0]
assert ow.autograd.gradcheck(check, (a, b)) and ow.autograd.gradgradcheck(check, (a, b))
""",
    )


def test_gradients_through_one_of_several_results(woven: Woven) -> None:
    run(
        woven,
        """
p, q = leaf(4), leaf(4)
a, b = ops.one_of_both(p, q)
by_p, by_q = ow.autograd.grad(a.sum(), (p, q), allow_unused=True, retain_graph=True)
assert by_q is None and ow.allclose(by_p, 2 * p)
by_p, by_q = ow.autograd.grad(b.sum(), (p, q), retain_graph=True)
assert ow.allclose(by_p, ow.ones_like(p)) and ow.allclose(by_q, 2 * q)
ops.both(p, q)[1].sum().backward()
assert p.grad.tolist() == q.grad.tolist() == [1, 1, 1, 1]
p.grad = None
ops.both(p, q).a.sum().backward()
assert p.grad.tolist() == q.detach().tolist()
assert ow.autograd.gradcheck(ops.both, (p, q)) and ow.autograd.gradgradcheck(ops.both, (p, q))
""",
    )


def test_conditions_on_elements_and_positions_within_positions(woven: Woven) -> None:
    run(
        woven,
        """
x, by = leaf(5), ow.tensor([1.0, 0, -2, 0, 0.5], dtype=ow.float64)
assert ow.autograd.gradcheck(lambda x: ops.chosen_sum(x, by), (x,))
assert ow.autograd.gradgradcheck(lambda x: ops.chosen_sum(x, by), (x,))
x = ow.tensor([[1.0, 5, 3, 4], [9, 2, 3, 1]], dtype=ow.float64)
assert ops.second_places(x).tolist() == [3, 2]
""",
    )


def test_positions_that_are_none(woven: Woven) -> None:
    run(
        woven,
        """
table = ow.tensor([5.0, 7, 9], dtype=ow.float64)
assert ops.between(table, ow.tensor([0.5, -3, 8], dtype=ow.float64)).tolist() == [6, 5, 9]
for nowhere in (float("inf"), -float("inf"), float("nan"), 1e300):
    raises_index_error(ops.between, table, ow.tensor([0.5, nowhere], dtype=ow.float64))
assert ops.squares(table, ow.tensor([1, -1])).tolist() == [7, 7]
raises_index_error(ops.squares, table, ow.tensor([2**32]))
""",
    )
