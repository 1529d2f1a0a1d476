"""Cases of operators along a dimension that is sharded, and of models that consist of them: `case_...(rank, size)`. No
tensor that is sharded is gathered."""

from __future__ import annotations

import copy
import warnings
from contextlib import contextmanager

import opweave as torch
import pytest
from opweave import nn
from opweave.distributed import init_device_mesh
from opweave.distributed.tensor import Partial, Replicate, Shard, _redistribute, distribute_tensor
from opweave.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)

functional = nn.functional


def random(*shape):
    torch.manual_seed(0)
    return torch.randn(*shape)


@contextmanager
def nothing_gathered(limit=0):
    """A context in which no tensor with more elements is gathered, and nothing warns."""
    line = _redistribute._Line
    gathered = line.gathered

    def checked(self, local, dim):
        assert local.numel() * self.size <= limit, f"a part of the sizes {tuple(local.shape)} is gathered"
        return gathered(self, local, dim)

    line.gathered = checked
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        line.gathered = gathered


def sharded(tensor, size, *placements):
    shape = (2, 2) if len(placements) == 2 else (size,)
    return distribute_tensor(tensor, init_device_mesh("cpu", shape), placements)


def meshes(size):
    return [1, 2] if size == 4 else [1]


def case_convolutions_of_sharded_batches(rank, size):
    """The gradients of weights are partial sums."""
    torch.manual_seed(0)  # every rank makes the same modules
    for module, sizes in (
        (nn.Conv1d(4, 2, 3, groups=2), (4, 6)),
        (nn.Conv2d(2, 3, 3, stride=2), (2, 5, 5)),
        (nn.Conv2d(2, 2, 3, groups=2, padding=1), (2, 5, 5)),
        (nn.Conv3d(1, 2, 2), (1, 3, 3, 3)),
    ):
        x = random(size * 2, *sizes)
        module(x).square().sum().backward()
        expected = [each.grad for each in module.parameters()]
        parameters = {
            name: sharded(each.detach(), size, Replicate()).requires_grad_() for name, each in module.named_parameters()
        }
        with nothing_gathered():
            found = torch.func.functional_call(module, parameters, (sharded(x, size, Shard(0)),))
            assert found.placements == (Shard(0),)
            gradients = torch.autograd.grad(found.square().sum(), list(parameters.values()))
        for mine, theirs in zip(gradients, expected, strict=True):
            torch.testing.assert_close(mine.full_tensor(), theirs)


def case_embeddings_by_rows(rank, size):
    table, index = random(9, 4), torch.tensor([[0, 8, 3], [3, 3, 5]])
    for options in ({}, {"padding_idx": 3}):

        def run(weight, places, brought=lambda tensor: tensor, options=options):
            weight = weight.detach().requires_grad_()
            found = functional.embedding(places, weight, **options)
            return found, *torch.autograd.grad(brought(found).square().sum(), weight)

        want = run(table, index)
        for ndim in meshes(size):
            weight, places = sharded(table, size, *[Shard(0)] * ndim), sharded(index, size, *[Replicate()] * ndim)
            with nothing_gathered():
                found, grad = run(
                    weight, places, lambda tensor, where=places.placements: tensor.redistribute(placements=where)
                )
            assert found.placements == (Partial(),) * ndim
            assert grad.placements == (Shard(0),) * ndim
            torch.testing.assert_close(found.full_tensor(), want[0])
            torch.testing.assert_close(grad.full_tensor(), want[1])
    with nothing_gathered():
        found = functional.embedding(sharded(index.repeat(2, 1), size, Shard(0)), sharded(table, size, Replicate()))
    assert found.placements == (Shard(0),)
    torch.testing.assert_close(found.full_tensor(), functional.embedding(index.repeat(2, 1), table))
    outside = sharded(torch.tensor([9]), size, Replicate())
    with pytest.raises(IndexError, match="index out of range in self"):
        functional.embedding(outside, sharded(table, size, Shard(0)))


def case_positions_along_a_sharded_dimension(rank, size):
    x, index, values = random(7, 5), torch.tensor([6, 0, 6]), random(3, 5)
    own = torch.tensor([[1, 0, 6, 2, 2]])
    for ndim in meshes(size):
        everywhere = [Replicate()] * ndim
        places, each = sharded(index, size, *everywhere), sharded(own, size, *everywhere)
        for where in ([Shard(0)] * ndim, [Shard(0), Shard(1)][:ndim]):
            tensor = sharded(x, size, *where)
            added = sharded(values, size, *everywhere)
            with nothing_gathered():
                got = [
                    tensor.index_select(0, places),
                    tensor.gather(0, each),
                    tensor.index_add(0, places, added, alpha=2),
                    tensor.scatter_add(0, each, added[:1]),
                    (tensor * 1).index_add_(0, places, added),
                ]
            want = [
                x.index_select(0, index),
                x.gather(0, own),
                x.index_add(0, index, values, alpha=2),
                x.scatter_add(0, own, values[:1]),
                (x * 1).index_add_(0, index, values),
            ]
            for mine, theirs in zip(got, want, strict=True):
                torch.testing.assert_close(mine.full_tensor(), theirs)


def case_softmax_along_a_sharded_dimension(rank, size):
    x, weights = random(4, 7, 3), torch.arange(84.0).view(4, 7, 3).sin()
    x[0, :4] = float("-inf")
    for function in (torch.softmax, torch.log_softmax):

        def run(tensor, factor, function=function):
            tensor = tensor.detach().requires_grad_()
            found = function(tensor, 1)
            return found, *torch.autograd.grad((found.exp() * factor).sum(), tensor)

        want = run(x, weights)
        for ndim in meshes(size):
            for where in ([Shard(1)] * ndim, [Shard(0), Shard(1)][-ndim:]):
                with nothing_gathered():
                    got = run(sharded(x, size, *where), sharded(weights, size, *where))
                for mine, theirs in zip(got, want, strict=True):
                    assert mine.placements == tuple(where)
                    torch.testing.assert_close(mine.full_tensor(), theirs)
    half = x[1:].bfloat16()
    torch.testing.assert_close(torch.softmax(sharded(half, size, Shard(1)), 1).full_tensor(), torch.softmax(half, 1))
    x[1, 2] = float("nan")
    torch.testing.assert_close(
        torch.softmax(sharded(x, size, Shard(1)), 1).full_tensor(), torch.softmax(x, 1), equal_nan=True
    )


def case_cross_entropy_of_sharded_classes(rank, size):
    scores, target, weight = random(6, 10), torch.tensor([9, 0, 4, -100, 2, 7]), torch.rand(10)
    for options in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.1}, {"weight": weight}):

        def run(scores, target, place=lambda tensor: tensor, options=options):
            given = {name: place(each) if name == "weight" else each for name, each in options.items()}
            scores = scores.detach().requires_grad_()
            loss = functional.cross_entropy(scores, target, **given)
            return loss, *torch.autograd.grad(loss.sum(), scores)

        want = run(scores, target)
        for ndim in meshes(size):
            where = [Shard(0), Shard(1)][-ndim:]
            of_target = [Shard(0), Replicate()][-ndim:]
            everywhere = [Replicate()] * ndim
            with nothing_gathered(target.numel()), loss_parallel():
                loss, grad = run(
                    sharded(scores, size, *where),
                    sharded(target, size, *of_target),
                    lambda tensor, everywhere=everywhere: sharded(tensor, size, *everywhere),
                )
            assert grad.placements == tuple(where)
            torch.testing.assert_close(loss.full_tensor(), want[0])
            torch.testing.assert_close(grad.full_tensor(), want[1])


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(17, 8), nn.LayerNorm(8)
        self.w1, self.w2 = nn.Linear(8, 12), nn.Linear(12, 8)
        self.output = nn.Linear(8, 17, bias=False)

    def forward(self, x):
        x = self.table(x)
        return self.output(self.norm(x + self.w2(self.w1(x).relu())))


def case_language_model(rank, size):
    x = torch.arange(12).view(2, 6)
    target = (x * 5 + 1) % 17
    torch.manual_seed(0)
    single = LanguageModel()
    several = copy.deepcopy(single)
    mesh = init_device_mesh("cpu", (size,))
    plan = {
        "table": RowwiseParallel(input_layouts=Replicate()),
        "w1": ColwiseParallel(),
        "w2": RowwiseParallel(),
        "output": ColwiseParallel(use_local_output=False),
    }
    parallelize_module(several, mesh, plan)
    scores = several(x)
    assert scores.placements == (Shard(2),)
    with nothing_gathered(), loss_parallel():
        loss = functional.cross_entropy(scores.flatten(0, 1), distribute_tensor(target.flatten(), mesh, [Replicate()]))
        loss.backward()
    want = functional.cross_entropy(single(x).flatten(0, 1), target.flatten())
    want.backward()
    torch.testing.assert_close(loss.full_tensor(), want)
    for (name, mine), theirs in zip(several.named_parameters(), single.parameters(), strict=True):
        grad = mine.grad.full_tensor() if hasattr(mine.grad, "full_tensor") else mine.grad
        torch.testing.assert_close(grad, theirs.grad, msg=name)
        if name != "norm" and hasattr(mine, "placements"):
            assert mine.grad.placements == mine.placements, name
