"""Pipes beside torch's: what they give, the order that a seed says, their graphs, and how loaders read them."""

from __future__ import annotations

import opweave
import pytest
from harness.oracle import Like
from harness.programs import check, programs
from opweave.utils import data

LIKE = Like(texts=False)

SETUP = """
import importlib, warnings
warnings.simplefilter('ignore')
T = L.utils.data
I, P = (importlib.import_module(f'{L.__name__}.utils.data.datapipes.{n}') for n in ('iter', 'map'))
G, S = (importlib.import_module(f'{L.__name__}.utils.data.{n}') for n in ('graph', 'graph_settings'))
w = lambda n=6: I.IterableWrapper(range(n))
q = lambda n=6: P.SequenceWrapper(list(range(n)))
"""
PROGRAMS = programs("""
list(w()), len(w()), repr(w()), str(w().map(abs))
---
list(w().map(lambda v: 2 * v).filter(lambda v: v > 3).batch(2)), len(w().batch(4)), len(w().batch(4, True))
---
(list(w(5).batch(2, drop_last=True)), list(w(5).batch(2).unbatch()),
 list(w(8).batch(2).batch(2).unbatch(unbatch_level=-1)))
---
list(w(8).batch(2).batch(2).unbatch(1))
---
list(w(4).unbatch(unbatch_level=1))
---
d = I.IterableWrapper([(1, 2, 3), (4, 5, 6)])
(list(d.map(sum)), list(d.map(abs, input_col=1)), list(d.map(max, input_col=[0, 2])),
 list(d.map(max, input_col=[0, 2], output_col=1)), list(d.map(abs, input_col=2, output_col=-1)),
 list(d.filter(lambda v: v > 2, input_col=1)))
---
list(I.IterableWrapper([{'a': 1, 'b': 2}]).map(lambda v: v + 5, input_col='a', output_col='c'))
---
w().map(lambda a, b: a)
---
w().map(lambda *, a: a)
---
w().map(abs, output_col=1)
---
list(w().filter(lambda v: 1))
---
list(w(3).concat(w(2))), list(w(3).zip(w(5), w(2))), list(w(3).mux(w(5))), len(w(3).mux(w(5))), len(w(3).concat(w(2)))
---
I.Concater()
---
I.Zipper([1])
---
a, b = w().fork(2); x0 = list(zip(a, b)); x0, len(a), list(a)
---
a, b = w(5).fork(2, buffer_size=2); list(a)
---
a, b, c = w(7).demux(3, lambda v: v % 3); list(a), list(b), list(c), list(w(3).fork(1))
---
a, b = w(5).demux(2, lambda v: None if v == 2 else v % 2, drop_none=True); list(a), list(b)
---
a, b = w(5).demux(2, lambda v: v); list(a), list(b)
---
w().fork(0)
---
L.manual_seed(1); s = w(20).shuffle(buffer_size=5); list(s), list(s), list(w(4).shuffle().set_shuffle(False))
---
(list(w(9).shuffle().set_seed(3)), list(q(9).shuffle().set_seed(3)),
 list(q(4).shuffle(indices=[3, 1]).set_shuffle(False)))
---
w().shuffle(buffer_size=0)
---
f = lambda v: v % 3
(list(w(8).groupby(f)), list(w(8).groupby(f, group_size=2, buffer_size=4)), list(w(8).groupby(f, keep_key=True)),
 list(w(8).groupby(f, group_size=3, buffer_size=4, guaranteed_group_size=2, drop_remaining=True)))
---
list(w(8).groupby(lambda v: v, group_size=2, buffer_size=4))
---
w(8).groupby(abs, group_size=5, buffer_size=4)
---
s = w(7).sharding_filter(); a = list(s), len(s); s.apply_sharding(3, 1); a, list(s), len(s)
---
w(7).sharding_filter().apply_sharding(2, 2)
---
S.apply_sharding(w(7).sharding_filter().map(abs).sharding_filter(), 2, 0)
---
list(w(4).collate()) and [t for t in w(4).batch(2).collate()]
---
a = w(4); i1 = iter(a); b = [next(i1)]; i2 = iter(a); b.append(next(i2)); next(i1)
---
class Squares(T.IterDataPipe):
    def __init__(self, source):
        self.source = source
    def __iter__(self):
        for v in self.source:
            yield v * v
T.functional_datapipe('squares_here')(Squares)
out = list(w(4).squares_here()), Squares(w(2)).squares_here().__class__.__name__
del T.IterDataPipe.functions['squares_here']
out
---
w().none_such
---
len(I.IterableWrapper(iter([1])))
---
(list(q().map(lambda v: v + 1)), [list(b) for b in q(5).batch(2)], len(q(5).batch(2)), len(q(5).batch(2, True)),
 list(q(2).concat(q(3))), [p for p in q(2).zip(q(3))], q().map()[2])
---
q(5).batch(2, True)[2]
---
q(2).concat(q(2))[7]
---
P.Concater()
---
P.Zipper([1])
---
g = G.traverse_dps(w(3).map(abs).zip(w(2)))
[type(p).__name__ for p in S.get_all_graph_pipes(g)]
---
G.traverse_dps(3)
---
L.manual_seed(5)
d = w(10).shuffle().sharding_filter().batch(2)
[list(b) for b in T.DataLoader(d, batch_size=None, collate_fn=list)], L.rand(1)
---
L.manual_seed(5); d = T.DataLoader(w(8).shuffle(), batch_size=3, shuffle=True); list(d), list(d)
---
L.manual_seed(5)
list(T.DataLoader(w(4).shuffle(), shuffle=False))
---
L.manual_seed(5); list(T.DataLoader(q(6), batch_size=2, shuffle=True)), len(T.DataLoader(w(5), batch_size=2))
---
class Any2(T.IterDataPipe):
    def __iter__(self):
        return iter([1])
A = T.non_deterministic(Any2)
out = list(A())
with T.guaranteed_datapipes_determinism():
    A()
---
@T.argument_validation
def f(other: T.IterDataPipe):
    return 1
f(3)
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text, LIKE)


def test_a_loader_adds_what_shuffles() -> None:
    opweave.manual_seed(0)
    with pytest.warns(UserWarning, match="Adding one at the end"):
        loader = data.DataLoader(data.datapipes.iter.IterableWrapper(range(9)), batch_size=None, shuffle=True)
    orders = list(loader), list(loader)
    assert all(sorted(each) == list(range(9)) != each for each in orders)
    assert orders[0] != orders[1]


def test_workers_share_a_pipe() -> None:
    pipe = data.datapipes.iter.IterableWrapper(range(10)).shuffle().sharding_filter()
    opweave.manual_seed(0)
    loader = data.DataLoader(pipe, batch_size=None, num_workers=2)
    orders = list(loader), list(loader)
    assert all(sorted(each) == list(range(10)) != each for each in orders)
    assert orders[0] != orders[1]
