"""Cases of training with `fully_shard`: parameters and gradients are those of one process that has the whole batch."""

import copy

import opweave as torch
import opweave.distributed as dist
import pytest
from opweave import nn
from opweave._C import lib
from opweave.distributed import init_device_mesh
from opweave.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from opweave.distributed.tensor import DTensor, Shard
from opweave.utils.checkpoint import checkpoint
from sharded_models import Block, Network, batches, network, same, sharded, train


def case_training_is_that_of_one_process(rank, size):
    for releases in (None, True, False, 1):
        single = network()
        model = sharded(single, reshard_after_forward=releases)
        assert isinstance(model, FSDPModule)
        assert isinstance(model, Network)
        assert type(model.blocks[0]).__name__ == "FSDPBlock"
        same(model, single)
        train(model, single, rank, size)


def case_parameters_are_shards(rank, size):
    model = sharded(network())
    weight = model.blocks[0].inner.weight
    assert weight.placements == (Shard(0),)
    assert weight.shape == (7, 5)
    assert weight.to_local().shape[0] == len(torch.arange(7).chunk(size)[rank])
    assert model.first.weight is model.last.weight
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 6)).sum().backward()
    optimizer.step()
    assert optimizer.state[weight]["exp_avg"].placements == (Shard(0),)
    assert weight.grad.placements == (Shard(0),)
    assert model.blocks[0].inner.weight is weight


def case_memory_is_released(rank, size):
    model = sharded(network())
    block = model.blocks[1]
    (unit,) = block._fsdp_state.units
    sizes, kept = [], []

    def look(module, args):
        sizes.append(block.inner.weight.untyped_storage().nbytes())
        kept.append(block.inner.weight)

    block.inner.register_forward_pre_hook(look)
    x = torch.ones(2, 6)
    shard = block.inner.weight.to_local().untyped_storage().nbytes()
    loss = model(x).sum()
    assert sizes[0] >= (7 * 5 + 7 + 5 * 7 + 5) * 4 > shard
    assert isinstance(block.inner.weight, DTensor)
    assert not isinstance(model.first.weight, DTensor)
    assert unit._memory is None
    assert kept[0].untyped_storage().nbytes() == 4
    assert kept[0].isnan().all()
    loss.backward()
    assert kept[0].untyped_storage().nbytes() == 4
    assert isinstance(model.first.weight, DTensor)
    model.set_reshard_after_forward(True)
    model(x)
    assert isinstance(model.first.weight, DTensor)


def whole_units(model, x):
    """The number of units that are whole before a backward pass, and the largest one within it."""
    units = [unit for each in model.modules() if isinstance(each, FSDPModule) for unit in each._fsdp_state.units]
    seen = []

    def look(*_):
        seen.append(sum(unit._memory is not None for unit in units))

    handles = [each.inner.register_full_backward_hook(look) for each in model]
    loss = model(x).sum()
    look()
    loss.backward()
    for each in handles:
        each.remove()
    return seen[0], max(seen[1:])


def case_few_layers_are_whole_at_once(rank, size):
    torch.manual_seed(0)
    model = nn.Sequential(*[Block(5) for _ in range(8)])
    for each in model:
        fully_shard(each)
    fully_shard(model)
    assert whole_units(model, torch.ones(2, 5, requires_grad=True).clone()) == (0, 1)
    model.set_reshard_after_forward(False)
    assert whole_units(model, torch.ones(2, 5))[0] == 8


def case_graphs_keep_no_whole_parameters(rank, size):
    model = fully_shard(nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)), reshard_after_forward=True)
    held = []
    model[1].register_forward_pre_hook(lambda module, args: held.append(model[1].weight.detach()))
    with torch.no_grad():
        model(torch.ones(2, 64))
    loss = model(torch.ones(2, 64)).sum()
    assert lib.storage_uses(held[1]._h) == lib.storage_uses(held[0]._h)
    loss.backward()


def case_accumulation(rank, size):
    for synchronizes in (True, False):
        for keeps in (True, False):
            single = network()
            model = sharded(single)
            given = list(batches(rank, size))
            for index, (part, whole) in enumerate(given):
                is_last = index == len(given) - 1
                model.set_requires_gradient_sync(synchronizes or is_last)
                model.set_is_last_backward(is_last)
                model.set_reshard_after_backward(is_last or not keeps)
                model(part).sum().backward()
                (single(whole).sum() / size).backward()
            same(model, single, lambda each: each.grad)


def case_one_backward_pass_of_several_calls(rank, size):
    single = network()
    model = sharded(single)
    (part, whole), (other_part, other), _ = batches(rank, size)
    (model(part).sum() + model(other_part).square().sum()).backward()
    ((single(whole).sum() + single(other).square().sum()) / size).backward()
    same(model, single, lambda each: each.grad)


def case_clipping(rank, size):
    single = network()
    model = sharded(single)
    part, whole = next(batches(rank, size))
    model(part).square().mean().backward()
    single(whole).square().mean().backward()
    norms = [nn.utils.clip_grad_norm_(each.parameters(), 0.1) for each in (model, single)]
    torch.testing.assert_close(norms[0].full_tensor(), norms[1])
    same(model, single, lambda each: each.grad)


def case_mesh_of_two_dimensions(rank, size):
    if size % 2:
        return
    mesh = init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("copies", "shards"))
    single = network()
    model = sharded(single, mesh=mesh)
    assert [str(each) for each in model.first.weight.placements] == ["R", "S(0)"]
    train(model, single, rank, size)
    given = list(batches(rank, size))
    for each in (model, single):
        each.zero_grad()
    for index, (part, whole) in enumerate(given):
        model.set_requires_all_reduce(index == len(given) - 1)
        model(part).sum().backward()
        (single(whole).sum() / size).backward()
    same(model, single, lambda each: each.grad)


def case_other_dimensions(rank, size):
    single = nn.Sequential(nn.Linear(6, 4 * size), nn.Tanh(), nn.Linear(4 * size, 8))
    for each in single.parameters():
        dist.broadcast(each.data, 0)
    model = copy.deepcopy(single)
    fully_shard(model, shard_placement_fn=lambda each: Shard(1) if each.shape == (8, 4 * size) else None)
    assert model[2].weight.placements == (Shard(1),)
    train(model, single, rank, size)
    if size > 1:
        with pytest.raises(NotImplementedError, match="does not support uneven sharding on dim 1"):
            fully_shard(nn.Linear(2 * size + 1, 2), shard_placement_fn=lambda each: Shard(1) if each.ndim > 1 else None)


def case_mixed_precision(rank, size):
    single = network()
    model = copy.deepcopy(single)
    halves = {"param_dtype": torch.bfloat16, "reduce_dtype": torch.float32}
    for each in model.blocks:
        fully_shard(each, mp_policy=MixedPrecisionPolicy(**halves))
    fully_shard(model, mp_policy=MixedPrecisionPolicy(**halves, output_dtype=torch.float32))
    seen = []
    model.blocks[0].inner.register_forward_hook(lambda module, args, result: seen.append(result.dtype))
    part, whole = next(batches(rank, size))
    result = model(part)
    assert result.dtype is torch.float32
    assert seen == [torch.bfloat16]
    result.square().mean().backward()
    single(whole).square().mean().backward()
    same(model, single, lambda each: each.grad, atol=0.05, rtol=0.1)
    assert model.first.weight.grad.dtype is torch.float32


def case_unused_and_frozen_parameters(rank, size):
    single = network()
    model = sharded(single)
    for each in (model, single):
        each.blocks[1].inner.weight.requires_grad = False
        each.blocks[2].scale.requires_grad = False
        each.spare = None
    train(model, single, rank, size, torch.optim.SGD)
    assert model.blocks[1].inner.weight.grad is None
    model = fully_shard(nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)}).a)
    both = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    both.forward = lambda x: both[0](x) if rank == 0 else both[1](x)
    fully_shard(both)
    both.set_reduce_scatter_unused_params(True)
    both(torch.ones(1, 2)).sum().backward()
    assert both[0].bias.grad.full_tensor().tolist() == [1 / size] * 2
    assert both[1].bias.grad.full_tensor().tolist() == [(size - 1) / size] * 2


def case_ignored_parameters(rank, size):
    model = network()
    fully_shard(model, ignored_params={model.blocks[0].scale})
    assert not isinstance(model.blocks[0].scale, DTensor)
    model(torch.full((1, 6), float(rank))).sum().backward()
    assert not isinstance(model.blocks[0].scale.grad, DTensor)


def case_modules_that_are_gathered_together(rank, size):
    single = network()
    model = copy.deepcopy(single)
    fully_shard([model.first, model.last])
    fully_shard([*model.blocks])
    assert len(model.first._fsdp_state.units[0].parameters) == 3
    fully_shard(model)
    train(model, single, rank, size)


def case_parameters_of_the_device_meta(rank, size):
    with torch.device("meta"):
        model = Network()
    single = network()
    model = sharded(model)
    with pytest.raises(
        RuntimeError, match=r"(?s)materialized from meta device.*\['first.weight', 'first.bias', 'last.b"
    ):
        model(torch.ones(2, 6))
    model.to_empty(device="cpu")
    for each in (model, single):
        torch.manual_seed(8)
        for module in each.modules():
            if isinstance(module, nn.Linear):
                module.reset_parameters()
            elif isinstance(module, Block):
                nn.init.ones_(module.scale)
    model.first.weight = model.last.weight
    train(model, single, rank, size)


def checkpointed(function, reentrant):
    return lambda x: checkpoint(function, x, use_reentrant=reentrant)


class Checkpointed(nn.Module):
    def __init__(self, own, reentrant):
        super().__init__()
        self.own, self.reentrant = own, reentrant

    def forward(self, x):
        return checkpoint(self.own, x, use_reentrant=self.reentrant)


def case_checkpoints_of_activations(rank, size):
    for reentrant in (False, True):
        for within in (False, True):
            single = network()
            model = sharded(single)
            part, whole = next(batches(rank, size))
            for name, each in enumerate(model.blocks):
                if within:
                    each.forward = checkpointed(each.forward, reentrant)
                else:
                    model.blocks[name] = Checkpointed(each, reentrant)
            model(part).square().mean().backward()
            single(whole).square().mean().backward()
            gradients = dict(single.named_parameters())
            for name, each in model.named_parameters():
                expected = gradients[name.replace("own.", "")].grad
                torch.testing.assert_close(each.grad.full_tensor(), expected)


def case_what_is_added_to_the_loss(rank, size):
    """A module leaves a tensor beside its result, of which the backward pass is told nothing."""

    class Beside(nn.Linear):
        def forward(self, x):
            self.penalty = nn.functional.linear(x, self.weight * 2).square().mean()
            return super().forward(x)

    torch.manual_seed(0)
    single = nn.Sequential(nn.Linear(6, 5), Beside(5, 3))
    model = copy.deepcopy(single)
    fully_shard(model[1])
    fully_shard(model)
    part, whole = next(batches(rank, size))
    (model(part).mean() + model[1].penalty).backward()
    (single(whole).mean() + single[1].penalty).backward()
    same(model, single, lambda each: each.grad)


def case_second_derivatives(rank, size):
    single = network()
    model = sharded(single, reshard_after_forward=True)
    part, whole = next(batches(rank, size))
    part, whole = part.clone().requires_grad_(), whole.clone().requires_grad_()
    for each, x in ((model, part), (single, whole)):
        (grad,) = torch.autograd.grad(each(x).square().sum(), x, create_graph=True)
        (grad.square().sum() / (size if each is single else 1)).backward()
    same(model, single, lambda each: each.grad, rtol=1e-4, atol=1e-4)
