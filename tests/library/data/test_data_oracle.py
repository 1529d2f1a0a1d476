"""Data sets, samplers and loaders beside torch's: the same batches in the same order under the same seed."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

SETUP = """
import importlib
from collections import namedtuple
D = importlib.import_module(L.__name__ + '.utils.data')
class Squares(D.Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, index):
        return index, float(index * index)
class Count(D.IterableDataset):
    def __init__(self, last=7):
        self.last = last
    def __iter__(self):
        return iter(range(self.last))
    def __len__(self):
        return self.last
tensors = D.TensorDataset(x(7, 2), i(5, 7))
"""
PROGRAMS = programs("""
list(D.DataLoader(tensors, batch_size=3))
---
a = list(D.DataLoader(tensors, 3, shuffle=True)); b = L.rand(2); c = list(D.DataLoader(tensors, 3, shuffle=True))
a, b, c
---
g = L.Generator().manual_seed(9)
list(D.DataLoader(tensors, 2, shuffle=True, drop_last=True, generator=g)), g.initial_seed()
---
loader = D.DataLoader(Squares(), 4, True); len(loader), list(loader)
---
list(D.DataLoader(Squares(), None)), list(D.DataLoader(Squares(), batch_size=None, sampler=[[1, 2], [3]]))
---
list(D.DataLoader(Count(), 3)), list(D.DataLoader(Count(), 3, drop_last=True)), len(D.DataLoader(Count(), 3))
---
list(D.DataLoader(Count(3), batch_size=None))
---
list(D.DataLoader(Squares(), 5, collate_fn=lambda batch: batch))
---
list(D.DataLoader(Squares(), batch_sampler=[[0, 3], [5]])), list(D.DataLoader(Squares(), 2, sampler=[7, 5, 3]))
---
list(D.RandomSampler(range(6))), list(D.RandomSampler(range(6), num_samples=8)), len(D.RandomSampler(range(6)))
---
list(D.RandomSampler(range(6), replacement=True, num_samples=40)), L.rand(1)
---
list(D.SubsetRandomSampler([4, 7, 9])), list(D.WeightedRandomSampler([0.1, 0.9, 0.4], 5))
---
list(D.WeightedRandomSampler([0.1, 0.9, 0.4], 3, replacement=False)), list(D.SequentialSampler('abc'))
---
list(D.BatchSampler(range(7), 3, False)), list(D.BatchSampler(range(7), 3, True))
---
[list(D.DistributedSampler(range(7), 3, rank, seed=4)) for rank in range(3)]
---
s = D.DistributedSampler(range(7), 2, 1, shuffle=False, drop_last=True); list(s), len(s)
---
[[each.indices, len(each)] for each in D.random_split(range(10), [7, 3])]
---
[each.indices for each in D.random_split(range(11), [0.5, 0.3, 0.2], generator=L.Generator().manual_seed(1))]
---
D.random_split(range(10), [7, 2])
---
D.random_split(range(10), [1.5, -0.5])
---
c = D.ConcatDataset([tensors, D.Subset(tensors, [3, 1])])
len(c), c[7], c[-1], c.cumulative_sizes, (tensors + tensors)[8]
---
D.ConcatDataset([])
---
list(D.ChainDataset([Count(2), Count(3)])), len(Count(2) + Count(1))
---
s = D.StackDataset(range(3), 'abc'); t = D.StackDataset(a=range(3), b='abc'); s[1], t[2], len(s)
---
D.TensorDataset(x(3), x(4))
---
D.default_collate([{'a': 1, 'b': x(2)}, {'a': 2, 'b': x(2)}]), D.default_collate([('u', 1.5), ('v', 2.5)])
---
import numpy
P = namedtuple('P', 'a b')
C = D.default_collate
C([P(1, [1.0, 2.0]), P(2, [3.0, 4.0])]), C([numpy.ones(2), numpy.zeros(2)]), C([True, False])
---
import numpy
a = D.default_collate([numpy.float32(2), numpy.float32(3)])
a, D.default_convert({'a': numpy.ones(2), 'b': (numpy.float32(3.0), 'c')})
---
D.default_collate([[1, 2], [3]])
---
D.default_collate([x(2), x(3)])
---
D.default_collate([object(), object()])
---
D.DataLoader(Squares(), shuffle=True, sampler=[1])
---
D.DataLoader(Squares(), 2, batch_sampler=[[1]])
---
D.DataLoader(Squares(), batch_size=0)
---
D.DataLoader(Squares(), batch_size=None, drop_last=True)
---
D.DataLoader(Count(), shuffle=True)
---
D.DataLoader(Squares(), num_workers=-1)
---
D.DataLoader(Squares(), persistent_workers=True)
---
D.DataLoader(Squares(), timeout=-1)
---
loader = D.DataLoader(Squares()); loader.batch_size = 4
---
D.RandomSampler([])
---
D.RandomSampler(range(3), replacement=1)
---
D.WeightedRandomSampler([[1.0]], 2)
---
D.BatchSampler(range(3), 0, False)
---
D.Dataset()[0]
---
D.get_worker_info()
---
list(D.DataLoader(tensors, 3, shuffle=True, num_workers=2)), L.rand(1)
---
loader = D.DataLoader(tensors, 3, shuffle=True, num_workers=2, persistent_workers=True)
list(loader), L.rand(1), list(loader), L.rand(1), list(loader), L.rand(1)
---
class Eager(D.Sampler):
    def __iter__(self):
        return iter(L.randperm(5).tolist())
loader = D.DataLoader(Squares(), None, sampler=Eager(), num_workers=1, persistent_workers=True)
list(loader), list(loader), L.rand(1)
---
class Drawn(D.Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, index):
        import numpy, random
        return float(numpy.random.rand()), random.random()
loader = D.DataLoader(Drawn(), num_workers=2, persistent_workers=True)
list(loader), list(loader)
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text)
