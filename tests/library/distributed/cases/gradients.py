"""Cases of collectives with gradients: those of the sum of all ranks' losses."""

import opweave as torch
import opweave.distributed as dist
import opweave.distributed._functional_collectives as functional
from opweave.distributed.nn import functional as nn


def leaf(rank, *shape):
    return (torch.arange(float(torch.Size(shape).numel())).reshape(shape) + rank).requires_grad_()


def grad(result, x, weight):
    (result * weight).sum().backward()
    return x.grad


def case_all_reduce(rank, size):
    total = size * (size + 1) / 2
    for call in (nn.all_reduce, lambda x: functional.all_reduce(x, "sum", dist.group.WORLD)):
        x = leaf(rank, 3)
        result = call(x)
        assert torch.equal(result.detach(), sum(leaf(each, 3).detach() for each in range(size)))
        assert torch.equal(grad(result, x, rank + 1), torch.full((3,), total))
    assert torch.equal(functional.all_reduce(leaf(rank, 3), "max").detach(), leaf(size - 1, 3).detach())


def case_broadcast_and_reduce(rank, size):
    x = leaf(rank, 3)
    result = nn.broadcast(x, 1)
    assert torch.equal(result.detach(), leaf(1, 3).detach())
    assert torch.equal(grad(result, x, rank + 1), torch.full((3,), size * (size + 1) / 2 if rank == 1 else 0.0))
    x = leaf(rank, 3)
    assert torch.equal(grad(nn.reduce(x, 1), x, rank + 1), torch.full((3,), 2.0))


def case_gather_and_scatter(rank, size):
    x = leaf(rank, 3)
    results = nn.gather(x, 1)
    if rank == 1:
        assert torch.equal(results[0].detach(), leaf(0, 3).detach())
    weighted = sum(result * (each + 1) for each, result in enumerate(results))
    assert torch.equal(grad(weighted, x, 1), torch.full((3,), rank + 1.0))
    given = [leaf(each, 3) for each in range(size)]
    result = nn.scatter(given, 1)
    assert torch.equal(result.detach(), leaf(rank, 3).detach())
    (result * (rank + 1)).sum().backward()
    assert [float(x.grad[0]) for x in given] == ([each + 1.0 for each in range(size)] if rank == 1 else [0.0] * size)


def case_all_gather_and_reduce_scatter(rank, size):
    total = size * (size + 1) / 2
    x = leaf(rank, 3)
    assert torch.equal(grad(nn.all_gather(x)[0], x, rank + 1), torch.full((3,), total if rank == 0 else 0.0))
    given = [leaf(rank + each, 3) for each in range(size)]
    result = nn.reduce_scatter(torch.empty(3), given)
    (result * (rank + 1)).sum().backward()
    assert [float(x.grad[0]) for x in given] == [each + 1.0 for each in range(size)]
    for dim in (0, 1):
        x = leaf(rank, 2, 3)
        result = functional.all_gather_tensor(x, dim, dist.group.WORLD)
        assert torch.equal(result.detach(), torch.cat([leaf(each, 2, 3).detach() for each in range(size)], dim))
        assert torch.equal(grad(functional.wait_tensor(result), x, rank + 1), torch.full((2, 3), total))
        x = leaf(rank, 2 * size, 3 * size)
        result = functional.reduce_scatter_tensor(x, "avg", dim)
        expected = sum(leaf(each, 2 * size, 3 * size).detach() for each in range(size)) / size
        assert torch.equal(result.detach(), expected.chunk(size, dim)[rank])
        parts = grad(result, x, rank + 1).chunk(size, dim)
        assert torch.allclose(torch.stack([part.mean() for part in parts]), torch.arange(1.0, size + 1) / size)


def case_all_to_all(rank, size):
    x = leaf(rank, size, 2)
    result = nn.all_to_all_single(torch.empty(size, 2), x)
    assert torch.equal(result.detach(), torch.stack([leaf(each, size, 2).detach()[rank] for each in range(size)]))
    assert torch.equal(grad(result, x, rank + 1), torch.arange(1.0, size + 1)[:, None].expand(-1, 2))
    given = [leaf(rank, each + 1) for each in range(size)]
    results = nn.all_to_all([torch.empty(rank + 1) for _ in range(size)], given)
    sum((result * (rank + 1)).sum() for result in results).backward()
    assert [float(each.grad[0]) for each in given] == [each + 1.0 for each in range(size)]
    moved = functional.permute_tensor(torch.full((2,), float(rank)), [(each + 1) % size for each in range(size)])
    assert moved[0] == (rank - 1) % size
