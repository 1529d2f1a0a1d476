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
I = importlib.import_module(f'{L.__name__}.utils.data.datapipes.iter')
G, S = (importlib.import_module(f'{L.__name__}.utils.data.{n}') for n in ('graph', 'graph_settings'))
w = lambda n=6: I.IterableWrapper(range(n))
"""
PROGRAMS = programs("""
list(w()), len(w()), repr(w()), str(w().batch(2))
---
list(w().batch(4)), len(w().batch(4)), list(w().batch(4, drop_last=True)), len(w().batch(4, True))
---
(list(w(5).batch(2, drop_last=True)), list(w(5).batch(2).unbatch()),
 list(w(8).batch(2).batch(2).unbatch(unbatch_level=-1)))
---
list(w(8).batch(2).batch(2).unbatch(1))
---
list(w(4).unbatch(unbatch_level=1))
---
w(4).batch(0)
---
L.manual_seed(1); s = w(20).shuffle(buffer_size=5); list(s), list(s), list(w(4).shuffle().set_shuffle(False))
---
list(w(9).shuffle().set_seed(3)), list(w(8).batch(2).shuffle(unbatch_level=1).set_seed(3))
---
w().shuffle(buffer_size=0)
---
s = w(7).sharding_filter(); a = list(s), len(s); s.apply_sharding(3, 1); a, list(s), len(s)
---
w(7).sharding_filter().apply_sharding(2, 2)
---
S.apply_sharding(w(7).sharding_filter().batch(2).sharding_filter(), 2, 0)
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
class Pairs(I.Batcher):
    def __init__(self, dp, drop_last=False):
        super().__init__(dp, batch_size=2, drop_last=drop_last, wrapper_class=tuple)
T.functional_datapipe('pairs_here')(Pairs)
out = list(w(5).pairs_here()), len(w(5).pairs_here(drop_last=True))
del T.IterDataPipe.functions['pairs_here']
out
---
T.functional_datapipe('batch')(I.Batcher)
---
T.functional_datapipe('own')(list)
---
w().none_such
---
len(I.IterableWrapper(iter([1])))
---
g = G.traverse_dps(w(3).batch(2).shuffle())
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
list(T.DataLoader(w(4).shuffle(), shuffle=False)), len(T.DataLoader(w(5), batch_size=2))
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


def test_a_loader_reads_pipes_whose_elements_have_keys() -> None:
    class Doubled(data.MapDataPipe):
        def __getitem__(self, index: int) -> int:
            return 2 * index

        def __len__(self) -> int:
            return 6

    batches = list(data.DataLoader(Doubled(), batch_size=4, shuffle=True))
    assert sorted(opweave.cat(batches).tolist()) == [0, 2, 4, 6, 8, 10]


def test_workers_share_a_pipe() -> None:
    pipe = data.datapipes.iter.IterableWrapper(range(10)).shuffle().sharding_filter()
    opweave.manual_seed(0)
    loader = data.DataLoader(pipe, batch_size=None, num_workers=2)
    orders = list(loader), list(loader)
    assert all(sorted(each) == list(range(10)) != each for each in orders)
    assert orders[0] != orders[1]


def test_other_pipes_are_the_programs_own() -> None:
    pipes = data.datapipes.iter
    with pytest.raises(NotImplementedError, match="Derive a class from IterDataPipe"):
        pipes.Mapper(pipes.IterableWrapper([1]), abs)
    with pytest.raises(NotImplementedError, match="not checked for types"):
        data.guaranteed_datapipes_determinism()
