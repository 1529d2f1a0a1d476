"""The network that the cases of `fully_shard` train, and the comparison with one process that has the whole batch."""

import copy

import opweave as torch
from opweave import nn
from opweave.distributed.fsdp import fully_shard
from opweave.distributed.tensor import DTensor


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, 7)
        self.outer = nn.Linear(7, width, bias=False)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x + self.outer(self.inner(x).tanh()) * self.scale


class Network(nn.Module):
    """Layers, of sizes that no number of processes divides, with a matrix that is used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.blocks = nn.ModuleList([Block(5) for _ in range(3)])
        self.last = nn.Linear(6, 5)
        self.last.weight = self.first.weight

    def forward(self, x):
        x = self.first(x)
        for each in self.blocks:
            x = each(x)
        return self.last(nn.functional.pad(x, (0, 1)))


def network():
    torch.manual_seed(3)
    return Network()


def sharded(single, **options):
    model = copy.deepcopy(single)
    for each in model.blocks:
        fully_shard(each, **options)
    return fully_shard(model, **options)


def batches(rank, size, count=3):
    """For each iteration, the part of a rank and the whole."""
    generator = torch.Generator().manual_seed(5)
    for _ in range(count):
        whole = torch.randn(4 * size, 6, generator=generator)
        yield whole[4 * rank : 4 * rank + 4], whole


def same(model, single, what=lambda each: each, **options):
    pairs = zip(model.named_parameters(), single.named_parameters(), strict=True)
    for (name, one), (_, other) in pairs:
        found, expected = what(one), what(other)
        assert (found is None) == (expected is None), name
        if found is not None:
            assert isinstance(found, DTensor), name
            torch.testing.assert_close(
                found.full_tensor().detach(),
                expected.detach(),
                **options,
                msg=lambda text, name=name: f"{name}: {text}",
            )


def train(model, single, rank, size, optimizer=torch.optim.AdamW, **options):
    optimizers = [optimizer(each.parameters(), 0.01) for each in (model, single)]
    for part, whole in batches(rank, size):
        for each in optimizers:
            each.zero_grad()
        model(part).square().mean().backward()
        single(whole).square().mean().backward()
        same(model, single, lambda each: each.grad, **options)
        for each in optimizers:
            each.step()
    same(model, single, **options)
