"""Cases of DistributedDataParallel: gradients are those of one process that has the whole batch."""

import copy
import io

import opweave as torch
import opweave.distributed as dist
import pytest
from opweave import nn
from opweave.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, default_hooks, register_ddp_comm_hook
from opweave.distributed.algorithms.join import Join
from opweave.distributed.optim import ZeroRedundancyOptimizer
from opweave.nn.parallel import DistributedDataParallel
from opweave.utils.data import DistributedSampler

SMALL = 1e-4
"""A size of buckets, in MiB, that divides the parameters below among several."""


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 3)
        self.spare = nn.Linear(8, 3)

    def forward(self, x, both=False):
        x = self.first(x).tanh()
        return self.second(x) + self.spare(x) if both else self.second(x)


def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))


def batches(rank, size, count=3):
    """For each iteration, the part of a rank and the whole."""
    generator = torch.Generator().manual_seed(5)
    for _ in range(count):
        whole = torch.randn(4 * size, 6, generator=generator)
        yield whole[4 * rank : 4 * rank + 4], whole


def same_gradients(wrapped, single):
    for (name, one), (_, other) in zip(wrapped.module.named_parameters(), single.named_parameters(), strict=True):
        assert (one.grad is None) == (other.grad is None), name
        if one.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, msg=lambda text, name=name: f"{name}: {text}")


def train(wrapped, single, rank, size, set_to_none=True, **options):
    optimizers = [torch.optim.SGD(each.parameters(), 0.1, momentum=0.9) for each in (wrapped, single)]
    for part, whole in batches(rank, size):
        for each in optimizers:
            each.zero_grad(set_to_none)
        wrapped(part, **options).square().mean().backward()
        single(whole, **options).square().mean().backward()
        same_gradients(wrapped, single)
        for each in optimizers:
            each.step()


def case_gradients_of_the_whole_batch(rank, size):
    for cap in (None, SMALL):
        for is_viewed in (False, True):
            for set_to_none in (False, True):
                single = network()
                wrapped = DistributedDataParallel(
                    copy.deepcopy(single), bucket_cap_mb=cap, gradient_as_bucket_view=is_viewed
                )
                assert len(wrapped.reducer._buckets) > 1 or cap is None
                train(wrapped, single, rank, size, set_to_none)


def case_buckets_are_sent_during_the_backward_pass(rank, size):
    wrapped = DistributedDataParallel(network(), bucket_cap_mb=SMALL)
    seen = []
    wrapped.module[0].register_full_backward_hook(lambda *_: seen.append(wrapped.reducer._next))
    for part, _ in batches(rank, size):
        wrapped(part).sum().backward()
    assert min(seen) > 0


def case_parameters_of_rank_0(rank, size):
    torch.manual_seed(rank)
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    module[1].running_mean.fill_(rank)
    wrapped = DistributedDataParallel(module)
    torch.manual_seed(0)
    assert torch.equal(module[0].weight, nn.Linear(3, 2).weight)
    assert module[1].running_mean.tolist() == [0, 0]
    assert list(wrapped.state_dict()) == [f"module.{name}" for name in module.state_dict()]
    module[1].running_mean.fill_(rank)
    wrapped.eval()(torch.ones(1, 3))
    assert module[1].running_mean.tolist() == [0, 0]


def case_models_that_differ(rank, size):
    with pytest.raises(RuntimeError, match=r"params\[0\] in this process with sizes .* of the same param in process"):
        DistributedDataParallel(nn.Linear(3, 2 + rank))
    with pytest.raises(RuntimeError, match="DDP expects same model across all ranks, but Rank"):
        DistributedDataParallel(nn.Linear(3, 2, bias=rank == 0))
    with pytest.raises(RuntimeError, match="with dtype"):
        DistributedDataParallel(nn.Linear(3, 2, dtype=torch.float64 if rank else torch.float32))


def case_accumulation(rank, size):
    for is_viewed in (False, True):
        single = network()
        wrapped = DistributedDataParallel(copy.deepcopy(single), gradient_as_bucket_view=is_viewed)
        for _ in range(2):
            wrapped.zero_grad()
            single.zero_grad()
            given = list(batches(rank, size))
            with wrapped.no_sync():
                for part, _ in given[:-1]:
                    wrapped(part).sum().backward()
            wrapped(given[-1][0]).sum().backward()
            for _, whole in given:
                (single(whole).sum() / size).backward()
            same_gradients(wrapped, single)


def case_unused_parameters(rank, size):
    for is_viewed in (False, True):
        wrapped = DistributedDataParallel(Perceptron(), gradient_as_bucket_view=is_viewed)
        part, _ = next(batches(rank, size))
        wrapped(part).sum().backward()
        with pytest.raises(RuntimeError, match=r"(?s)Expected to have finished reduction in the prior.*spare\.weight"):
            wrapped(part)
        single = Perceptron()
        wrapped = DistributedDataParallel(
            copy.deepcopy(single), gradient_as_bucket_view=is_viewed, find_unused_parameters=True
        )
        single.load_state_dict(wrapped.module.state_dict())
        train(wrapped, single, rank, size)
        train(wrapped, single, rank, size, both=True)
        wrapped.zero_grad()
        single.zero_grad()
        for part, whole in batches(rank, size):  # rank 0 alone uses the spare layer
            wrapped(part, both=rank == 0).sum().backward()
            (single(whole[:4], both=True).sum() / size).backward()
            (single(whole[4:]).sum() / size).backward()
        same_gradients(wrapped, single)


def case_static_graph(rank, size):
    for is_viewed in (False, True):
        single = Perceptron()
        wrapped = DistributedDataParallel(
            copy.deepcopy(single), static_graph=True, gradient_as_bucket_view=is_viewed, bucket_cap_mb=SMALL
        )
        single.load_state_dict(wrapped.module.state_dict())
        train(wrapped, single, rank, size)


def train_until_one_ends(wrapped, rank, size):
    with Join([wrapped], throw_on_early_termination=True):
        for part, _ in batches(rank, size, 1 + rank):
            wrapped(part).sum().backward()


def case_uneven_inputs(rank, size):
    for divides_by_all in (True, False):
        single = network()
        wrapped = DistributedDataParallel(copy.deepcopy(single), bucket_cap_mb=SMALL)
        optimizers = [torch.optim.SGD(each.parameters(), 0.1) for each in (wrapped, single)]
        with wrapped.join(divide_by_initial_world_size=divides_by_all):
            for part, _ in batches(rank, size, 1 + rank):
                optimizers[0].zero_grad()
                wrapped(part).sum().backward()
                optimizers[0].step()
        for index, (_, whole) in enumerate(batches(rank, size, size)):
            optimizers[1].zero_grad()
            active = size - index
            (single(whole[4 * index :]).sum() / (size if divides_by_all else active)).backward()
            optimizers[1].step()
        for one, other in zip(wrapped.parameters(), single.parameters(), strict=True):
            torch.testing.assert_close(one, other)
    wrapped = DistributedDataParallel(network())
    with pytest.raises(RuntimeError, match="exhausted"):
        train_until_one_ends(wrapped, rank, size)


def case_communication_hooks(rank, size):
    for kind in DDPCommHookType:
        single = network()
        wrapped = DistributedDataParallel(copy.deepcopy(single), bucket_cap_mb=SMALL)
        register_ddp_comm_hook(kind, wrapped)
        part, whole = next(batches(rank, size))
        wrapped(part).mean().backward()
        single(whole).mean().backward()
        for one, other in zip(wrapped.parameters(), single.parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, atol=1e-2, rtol=1e-2)
    seen = []

    def hook(state, bucket):
        seen.append((bucket.index(), bucket.is_last(), len(bucket.parameters())))
        assert all(grad.shape == each.shape for grad, each in zip(bucket.gradients(), bucket.parameters(), strict=True))
        return default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)(state, bucket)

    wrapped = DistributedDataParallel(network(), gradient_as_bucket_view=True)
    wrapped.register_comm_hook(None, hook)
    with pytest.raises(RuntimeError, match="can only be called once"):
        wrapped.register_comm_hook(None, hook)
    wrapped(part).mean().backward()
    assert seen == [(0, True, 6)]


def case_pickling(rank, size):
    single = network()
    wrapped = copy.deepcopy(DistributedDataParallel(copy.deepcopy(single)))
    file = io.BytesIO()
    torch.save(wrapped, file)
    file.seek(0)
    for each in (wrapped, torch.load(file, weights_only=False)):
        train(each, copy.deepcopy(single), rank, size)


def case_autocast_and_scaler(rank, size):
    wrapped = DistributedDataParallel(network())
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    optimizer = torch.optim.AdamW(wrapped.parameters())
    for part, _ in batches(rank, size):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = wrapped(part).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    joined = torch.cat([each.detach().view(-1) for each in wrapped.parameters()])
    every = [torch.empty_like(joined) for _ in range(size)]
    dist.all_gather(every, joined)
    assert all(torch.equal(each, joined) for each in every)


def case_sparse_gradients(rank, size):
    single = nn.Embedding(10, 3, sparse=True)
    wrapped = DistributedDataParallel(single)
    wrapped(torch.tensor([rank, 5])).sum().backward()
    expected = torch.zeros(10, 3)
    expected[:size] = 1 / size
    expected[5] += 1
    assert single.weight.grad.is_sparse
    torch.testing.assert_close(single.weight.grad.to_dense(), expected)


def case_synchronized_batch_norm(rank, size):
    torch.manual_seed(0)
    for shape in [(6,), (6, 5), (6, 3, 4)]:
        whole = (torch.randn(4 * size, *shape, dtype=torch.float64) + 3).requires_grad_()
        part = whole.detach()[4 * rank : 4 * rank + 4].requires_grad_()
        kind = [nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d][len(shape) - 1]
        single = kind(6, dtype=torch.float64)
        with torch.no_grad():
            single.weight.copy_(torch.rand(6))
        layer = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(copy.deepcopy(single)))[0]
        assert type(layer) is nn.SyncBatchNorm
        for _ in range(2):
            expected, result = single(whole), layer(part)
        expected.sin().sum().backward()
        result.sin().sum().backward()
        mine = slice(4 * rank, 4 * rank + 4)
        torch.testing.assert_close(result, expected[mine])
        torch.testing.assert_close(part.grad, whole.grad[mine])
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            torch.testing.assert_close(getattr(layer, name), getattr(single, name))
        dist.all_reduce(layer.weight.grad)
        torch.testing.assert_close(layer.weight.grad, single.weight.grad)
        torch.testing.assert_close(layer.eval()(part), single.eval()(part))
    with pytest.raises(ValueError, match="at least 2D"):
        nn.SyncBatchNorm(2)(torch.ones(2))


def case_zero_redundancy(rank, size):
    single = network()
    wrapped = DistributedDataParallel(copy.deepcopy(single))
    groups = lambda model: [{"params": model[0].parameters()}, {"params": model[2:].parameters(), "lr": 0.02}]  # noqa: E731
    divided = ZeroRedundancyOptimizer(groups(wrapped.module), torch.optim.AdamW, lr=0.01)
    optimizer = torch.optim.AdamW(groups(single), lr=0.01)
    owned = torch.tensor([float(len(divided.optim.state_dict()["param_groups"][0]["params"]))])

    def steps():
        for part, whole in batches(rank, size):
            for each in (divided, optimizer):
                each.zero_grad()
            wrapped(part).square().mean().backward()
            single(whole).square().mean().backward()
            divided.step()
            optimizer.step()
        for one, other in zip(wrapped.parameters(), single.parameters(), strict=True):
            torch.testing.assert_close(one, other)

    steps()
    dist.all_reduce(owned)
    assert owned == 2
    with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
        divided.state_dict()
    divided.consolidate_state_dict(1)
    saved = [divided.state_dict() if rank == 1 else None]
    dist.broadcast_object_list(saved, 1)
    expected = optimizer.state_dict()
    assert saved[0]["state"].keys() == expected["state"].keys()
    for index, state in expected["state"].items():
        torch.testing.assert_close(saved[0]["state"][index]["exp_avg"], state["exp_avg"])
    assert [each["lr"] for each in saved[0]["param_groups"]] == [0.01, 0.02]
    divided = ZeroRedundancyOptimizer(groups(wrapped.module), torch.optim.AdamW, lr=0.5)
    divided.load_state_dict(saved[0])
    steps()
    with Join([wrapped, divided]):
        for part, _ in batches(rank, size, 1 + rank):
            divided.zero_grad()
            wrapped(part).square().mean().backward()
            divided.step()
    for index, (_, whole) in enumerate(batches(rank, size, size)):
        optimizer.zero_grad()
        (single(whole[4 * index :]).square().mean() * (size - index) / size).backward()
        optimizer.step()
    for one, other in zip(wrapped.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def case_samplers(rank, size):
    sampler = DistributedSampler(range(10), shuffle=False)
    assert (sampler.rank, sampler.num_replicas) == (rank, size)
    assert list(sampler)[:2] == [rank, rank + size]


def case_refusals(rank, size):
    with pytest.raises(RuntimeError, match="doesn't have any parameter that requires a gradient"):
        DistributedDataParallel(nn.Tanh())
    with pytest.raises(ValueError, match="device_ids can only be None"):
        DistributedDataParallel(nn.Linear(2, 2), device_ids=[0, 1])
    with pytest.raises(ValueError, match="only work with"):
        DistributedDataParallel(nn.Linear(2, 2), device_ids=[0])
    with pytest.raises(RuntimeError, match="uninitialized parameters"):
        DistributedDataParallel(nn.LazyLinear(2))
    with pytest.raises(TypeError, match="must be callable"):
        DistributedDataParallel(nn.Linear(2, 2)).register_comm_hook(None, 3)
