"""Cases of distributed tensors on any number of ranks: `case_...(rank, size)`."""

from __future__ import annotations

import copy
import io
import warnings

import opweave as torch
import pytest
from opweave import nn
from opweave.distributed import DeviceMesh, init_device_mesh
from opweave.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    full,
    ones,
    rand,
    randn,
    zeros,
)
from opweave.distributed.tensor.experimental import implicit_replication, local_map
from opweave.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)


def mesh_of(size):
    return init_device_mesh("cpu", (size,))


def numbers(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape)


def sharded(tensor, size, placement):
    return distribute_tensor(tensor, mesh_of(size), [placement])


def case_parts(rank, size):
    whole = numbers(7, 3)
    for placement in (Shard(0), Shard(1), Shard(-1), Replicate()):
        tensor = sharded(whole, size, placement)
        assert tensor.full_tensor().equal(whole)
        expected = whole.chunk(size, placement.dim) if isinstance(placement, Shard) else [whole] * size
        local = expected[rank] if rank < len(expected) else whole[:0] if placement.dim == 0 else whole[:, :0]
        assert tensor.to_local().equal(local)
        assert tensor.shape == whole.shape
        assert tensor.stride() == whole.stride()
        assert tensor.placements[0] == (Shard(1) if placement == Shard(-1) else placement)
        assert isinstance(tensor, DTensor)


def case_placements_are_those_of_products(rank, size):
    a, b = numbers(8, 4), numbers(4, 6, seed=1)
    expected = {
        (Replicate(), Replicate()): Replicate(),
        (Shard(0), Replicate()): Shard(0),
        (Replicate(), Shard(1)): Shard(1),
        (Shard(1), Shard(0)): Partial("sum"),
    }
    for (left, right), placement in expected.items():
        product = sharded(a, size, left) @ sharded(b, size, right)
        assert product.placements == (placement,)
        torch.testing.assert_close(product.full_tensor(), a @ b)


def case_reductions_are_partial(rank, size):
    whole = numbers(4 * size, 3)
    tensor = sharded(whole, size, Shard(0))
    for word, function in {
        "sum": lambda x: x.sum(),
        "avg": lambda x: x.mean(0),
        "max": lambda x: x.amax(0),
        "min": lambda x: x.amin(0),
        "product": lambda x: x.prod(0),
    }.items():
        found = function(tensor)
        assert found.placements == (Partial(word),)
        torch.testing.assert_close(found.full_tensor(), function(whole))
    assert tensor.sum(1).placements == (Shard(0),)
    assert tensor.sum(0).sum(0).placements == (Partial("sum"),)


def case_sums_stay_partial_in_linear_functions(rank, size):
    whole = numbers(4 * size, 3).abs()
    tensor, mask = sharded(whole, size, Shard(0)), torch.arange(3) > 0
    everywhere = sharded(mask, size, Replicate())
    for function in (
        lambda terms, mask: terms * 2 + terms,
        lambda terms, mask: -terms / 4 - terms,
        lambda terms, mask: torch.lerp(terms, terms * 3, 0.25),
        lambda terms, mask: torch.where(mask, terms, -terms),
    ):
        found = function(tensor.sum(0), everywhere)
        assert found.placements == (Partial("sum"),)
        torch.testing.assert_close(found.full_tensor(), function(whole.sum(0), mask))
    for function in (lambda x: x + 1, lambda x: 1 / x, lambda x: x.abs()):
        found = function(tensor.sum(0))
        assert found.placements == (Replicate(),)
        torch.testing.assert_close(found.full_tensor(), function(whole.sum(0)))
    terms = tensor.sum(0)
    torch.testing.assert_close((terms * terms).full_tensor(), whole.sum(0).square())
    counts = DTensor.from_local(torch.full((3,), rank), mesh_of(size), [Partial()]) * 2
    assert counts.placements == (Partial("sum"),)
    assert counts.full_tensor().equal(torch.full((3,), size * (size - 1)))
    in_place = tensor.sum(0)
    in_place.mul_(2)
    assert in_place.placements == (Partial("sum"),)
    torch.testing.assert_close(in_place.full_tensor(), whole.sum(0) * 2)


def case_what_is_no_number_stays_in_a_maximum(rank, size):
    whole = numbers(2 * size, 2)
    whole[0, 0] = float("nan")
    assert sharded(whole, size, Shard(0)).amax(0).full_tensor()[0].isnan()


def case_redistribution(rank, size):
    whole = numbers(5, 7)
    everywhere = [Replicate(), Shard(0), Shard(1)]
    for before in everywhere:
        for after in everywhere:
            tensor = sharded(whole, size, before).redistribute(placements=[after])
            assert tensor.placements == (after,)
            assert tensor.full_tensor().equal(whole)
    terms = DTensor.from_local(torch.full((4, 2), rank + 1.0), mesh_of(size), [Partial()])
    for after in everywhere:
        found = terms.redistribute(placements=[after]).full_tensor()
        assert found.equal(torch.full((4, 2), size * (size + 1) / 2))
    with pytest.raises(RuntimeError, match="redistributing to Partial is for internal use only"):
        sharded(whole, size, Shard(0)).redistribute(placements=[Partial()])


def case_mesh_of_two_dimensions(rank, size):
    if size % 2:
        return
    mesh = init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("rows", "columns"))
    assert mesh.get_coordinate() == [rank // (size // 2), rank % (size // 2)]
    assert mesh["columns"].size() == size // 2
    assert mesh["rows"].get_local_rank() == rank // (size // 2)
    whole = numbers(9, 5)
    places = [Replicate(), Shard(0), Shard(1)]
    for before in ([a, b] for a in places for b in places):
        tensor = distribute_tensor(whole, mesh, before)
        assert tensor.full_tensor().equal(whole)
        for after in ([a, b] for a in places for b in places):
            assert tensor.redistribute(placements=after).full_tensor().equal(whole), (before, after)


def case_gradients_of_a_network(rank, size):
    x, w, v = numbers(6, 4), numbers(4, 8, seed=1), numbers(8, 3, seed=2)

    def run(*tensors):
        x, w, v = (each.detach().requires_grad_() for each in tensors)
        loss = ((x @ w).relu() @ v).log_softmax(1).square().sum()
        loss.backward()
        return loss, x.grad, w.grad, v.grad

    expected = run(x, w, v)
    for places in ([Shard(0), Replicate(), Replicate()], [Replicate(), Shard(1), Shard(0)]):
        found = run(*(sharded(each, size, place) for each, place in zip((x, w, v), places, strict=True)))
        for mine, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(mine.full_tensor(), theirs)


def case_gradients_of_parts(rank, size):
    mesh = mesh_of(size)
    own = torch.full((2, 3), float(rank), requires_grad=True)
    DTensor.from_local(own, mesh, [Shard(0)]).mul(3).sum().backward()
    assert own.grad.equal(torch.full((2, 3), 3.0))
    whole = numbers(2 * size, 3).requires_grad_()
    tensor = distribute_tensor(whole.detach(), mesh, [Shard(0)]).requires_grad_()
    (tensor.to_local() * (rank + 1)).sum().backward()
    assert tensor.grad.placements == (Shard(0),)
    assert tensor.grad.to_local().equal(torch.full((2, 3), rank + 1.0))


def case_writes_through_views(rank, size):
    whole = numbers(5, 4)
    tensor = sharded(whole, size, Shard(0))
    for change in (
        lambda x: x.add_(1),
        lambda x: x[:, 1].zero_(),
        lambda x: x[1:4].mul_(2),  # elements of several processes
        lambda x: x.t()[0].fill_(7),
        lambda x: x.view(-1)[3:9].neg_(),
        lambda x: x.__setitem__(2, 5.0),
        lambda x: x.__setitem__((slice(None), 2), 0.5),
    ):
        change(tensor)
        change(whole)
        assert tensor.full_tensor().equal(whole)
    view = tensor[1:4]
    tensor.add_(1)
    whole.add_(1)
    assert view.full_tensor().equal(whole[1:4])


def case_gradients_of_writes_to_views(rank, size):
    whole = numbers(5, 4)

    def run(x):
        x = x.detach().requires_grad_()
        y = x * 2
        y[1:4] *= x[:3]
        y[:, 1].mul_(3)
        y.square().sum().backward()
        return x.grad

    found = run(sharded(whole, size, Shard(0)))
    torch.testing.assert_close(found.full_tensor(), run(whole))


def case_conjugates(rank, size):
    whole = torch.complex(numbers(4, 4), numbers(4, 4, seed=1))
    tensor = sharded(whole, size, Shard(0))
    torch.testing.assert_close((tensor.mH @ tensor).full_tensor(), whole.mH @ whole)
    assert tensor.conj().full_tensor().equal(whole.conj())


def case_random_numbers_are_those_of_one_process(rank, size):
    mesh = mesh_of(size)
    torch.manual_seed(3)
    found = [rand(5, 3, device_mesh=mesh, placements=[Shard(0)]), randn(4, device_mesh=mesh, placements=[Replicate()])]
    tensor = sharded(torch.zeros(6, 2), size, Shard(0)).uniform_()
    dropped = nn.functional.dropout(tensor, 0.5)
    torch.manual_seed(3)
    expected = [torch.rand(5, 3), torch.randn(4), torch.zeros(6, 2).uniform_()]
    for mine, theirs in zip([*found, tensor], expected, strict=True):
        assert mine.full_tensor().equal(theirs)
    assert dropped.full_tensor().equal(nn.functional.dropout(expected[2], 0.5))
    assert dropped.placements == (Shard(0),)


def case_factories(rank, size):
    mesh = mesh_of(size)
    for made, value in ((zeros, 0.0), (ones, 1.0)):
        assert made(5, 2, device_mesh=mesh, placements=[Shard(0)]).full_tensor().equal(torch.full((5, 2), value))
    with mesh:
        assert full((2, 3), 7, dtype=torch.int64).full_tensor().equal(torch.full((2, 3), 7))
        assert zeros([2], requires_grad=True).requires_grad
    tensor = sharded(numbers(6, 2), size, Shard(0))
    assert torch.zeros_like(tensor).placements == (Shard(0),)
    assert tensor.new_ones(3).full_tensor().equal(torch.ones(3))
    with pytest.raises(RuntimeError, match="placements Shard and Replicate"):
        zeros(2, device_mesh=mesh, placements=[Partial()])


def case_printing(rank, size):
    tensor = sharded(torch.arange(2.0 * size), size, Shard(0))
    local = f"tensor([{2 * rank:.0f}., {2 * rank + 1:.0f}.])"
    mesh = f"DeviceMesh(({size},), 'cpu', stride=(1,))"
    assert str(tensor) == f"DTensor(local_tensor={local}, device_mesh={mesh}, placements=(Shard(dim=0),))"
    assert [str(each) for each in (Shard(1), Replicate(), Partial())] == ["S(1)", "R", "P(sum)"]


def case_numbers_and_lists(rank, size):
    tensor = sharded(torch.arange(6.0), size, Shard(0))
    assert tensor.sum().item() == 15
    assert tensor.tolist() == list(range(6))
    assert bool((tensor >= 0).all())
    assert tensor.equal(tensor.clone())
    assert tensor[tensor > 2].full_tensor().tolist() == [3, 4, 5]


def case_what_has_no_rule_is_gathered_with_a_warning(rank, size):
    tensor = sharded(numbers(6), size, Shard(0))
    index = sharded(torch.tensor([0, 3]), size, Replicate())
    with pytest.warns(UserWarning, match=r"take\(\) has no rule of sharding"):
        found = tensor.take(index)
    assert found.full_tensor().equal(numbers(6).take(torch.tensor([0, 3])))


def case_bad_input(rank, size):
    mesh = mesh_of(size)
    tensor = sharded(numbers(4, 4), size, Shard(0))
    with pytest.raises(RuntimeError, match=r"mul\(\): got mixed torch.Tensor and DTensor"):
        tensor * torch.ones(4, 4)
    with implicit_replication():
        assert (tensor * torch.ones(4, 4)).full_tensor().equal(numbers(4, 4))
    with pytest.raises(ValueError, match=r"must have the same length as `device_mesh\.ndim`"):
        distribute_tensor(torch.ones(2), mesh, [Shard(0), Shard(0)])
    with pytest.raises(IndexError, match=r"Shard\(dim=2\) of a tensor with 1 dimensions"):
        distribute_tensor(torch.ones(2), mesh, [Shard(2)])
    with pytest.raises(TypeError, match="placements must be"):
        distribute_tensor(torch.ones(2), mesh, ["S(0)"])
    with pytest.raises(ValueError, match="expects one of the reductions"):
        Partial("median")
    with pytest.raises(RuntimeError, match="the local_tensor argument only accepts"):
        DTensor.from_local(tensor, mesh, [Shard(0)])
    with pytest.raises(RuntimeError, match="lie on several processes"):
        tensor.numpy()
    with pytest.raises(RuntimeError, match="size of tensor a"):
        tensor + sharded(numbers(3, 4), size, Shard(0))
    with pytest.raises(RuntimeError, match="No device mesh is currently active"):
        zeros(2)
    with pytest.raises(RuntimeError, match="should not be bigger"):
        DeviceMesh("cpu", list(range(size + 1)))
    with pytest.raises(RuntimeError, match="Cannot slice a DeviceMesh without"):
        mesh["rows"]


def case_results_are_written_to_out(rank, size):
    a, b = numbers(4, 2), numbers(4, 2, seed=1)
    out = sharded(torch.zeros(4, 2), size, Shard(1))
    assert torch.add(sharded(a, size, Shard(0)), sharded(b, size, Replicate()), out=out) is out
    assert out.placements == (Shard(1),)
    assert out.full_tensor().equal(a + b)


def case_copies(rank, size):
    tensor = sharded(numbers(4, 2), size, Shard(0)).requires_grad_()
    copied = copy.deepcopy(tensor)
    assert copied.requires_grad
    assert copied.full_tensor().equal(tensor.full_tensor())
    file = io.BytesIO()
    torch.save(tensor.detach(), file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert loaded.placements == (Shard(0),)
    assert loaded.to_local().equal(tensor.to_local())


def case_functions_of_parts(rank, size):
    tensor = sharded(numbers(2 * size, 3), size, Shard(0))

    def local(x):
        assert x.shape == (2, 3)
        return x * 2

    found = local_map(local, out_placements=[Shard(0)], in_placements=([Shard(0)],))(tensor)
    assert found.full_tensor().equal(numbers(2 * size, 3) * 2)
    with pytest.raises(ValueError, match="mismatched placements"):
        local_map(local, [Shard(0)], ([Replicate()],))(tensor)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(12, 8), nn.LayerNorm(8)
        self.w1, self.w2 = nn.Linear(8, 12), nn.Linear(12, 8)

    def forward(self, x):
        return self.w2(self.w1(self.norm(self.table(x))).relu())


def case_parallel_modules(rank, size):
    x = torch.arange(12).view(2, 6)
    torch.manual_seed(0)
    single = Perceptron()
    several = copy.deepcopy(single)
    plan = {
        "table": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1), use_local_output=False),
        "norm": SequenceParallel(),
        "w1": ColwiseParallel(input_layouts=Shard(1)),
        "w2": RowwiseParallel(),
    }
    parallelize_module(several, mesh_of(size), plan)
    assert several.w1.weight.placements == (Shard(0),)
    for module in (single, several):
        module(x).square().sum().backward()
    torch.testing.assert_close(several(x), single(x))
    for (name, mine), theirs in zip(several.named_parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(mine.grad.full_tensor(), theirs.grad, msg=name)
    torch.optim.AdamW(several.parameters(), lr=0.1).step()
    torch.optim.AdamW(single.parameters(), lr=0.1).step()
    for mine, theirs in zip(several.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(mine.full_tensor(), theirs)


def case_plans(rank, size):
    mesh = mesh_of(size)
    layer = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    with pytest.warns(UserWarning, match="could not be resolved"):
        parallelize_module(layer, mesh, {"first": ColwiseParallel()})
    with pytest.warns(UserWarning, match="No parallelize_plan"):
        parallelize_module(layer, mesh)
    with pytest.raises(TypeError, match="Expect Union"):
        parallelize_module(layer, mesh, [ColwiseParallel()])
    with pytest.raises(NotImplementedError, match="currently only support"):
        parallelize_module(layer, mesh, {"1": RowwiseParallel()})
    assert repr(ColwiseParallel()) == (
        "ColwiseParallel(input_layouts=(Replicate(),), output_layouts=(Shard(dim=-1),), use_local_output=True)"
    )
    prepared = PrepareModuleInput(input_layouts=Shard(0), desired_input_layouts=Replicate(), use_local_output=True)
    finished = PrepareModuleOutput(output_layouts=Replicate(), desired_output_layouts=Shard(0))
    module = nn.Identity()
    for style in (prepared, finished):
        parallelize_module(module, mesh, style)
    own = torch.full((1, 2), float(rank))
    assert module(own).equal(own)


def case_distributed_modules(rank, size):
    mesh = mesh_of(size)
    torch.manual_seed(0)
    single = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    several = distribute_module(copy.deepcopy(single), mesh)
    x = numbers(2 * size, 3)
    found = several(distribute_tensor(x, mesh, [Shard(0)]))
    assert found.placements == (Shard(0),), found.placements
    torch.testing.assert_close(found.full_tensor(), single(x))
    with pytest.raises(RuntimeError, match="should only be called once"):
        distribute_module(several, mesh)


def case_nothing_warns_in_training(rank, size):
    torch.manual_seed(0)
    block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    mesh = mesh_of(size)
    several = distribute_module(copy.deepcopy(block), mesh)
    x = numbers(2 * size, 5, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = several(distribute_tensor(x, mesh, [Shard(0)]))
        found.square().mean().backward()
    expected = block(x)
    expected.square().mean().backward()
    torch.testing.assert_close(found.full_tensor(), expected)
    for (name, mine), theirs in zip(several.named_parameters(), block.parameters(), strict=True):
        torch.testing.assert_close(mine.grad.full_tensor(), theirs.grad, msg=name)


def case_steps_of_optimizers_are_those_of_parts(rank, size):
    whole, gradients = numbers(7, 3), [numbers(7, 3, seed=each) for each in (1, 2, 3)]
    for kind, options in (
        (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
        (torch.optim.AdamW, {"amsgrad": True}),
        (torch.optim.Adam, {"maximize": True}),
        (torch.optim.RMSprop, {"centered": True}),
    ):
        one = whole.clone().requires_grad_()
        placements = (Shard(0), Shard(1), Replicate())
        several = [sharded(whole, size, each).requires_grad_() for each in placements]
        expected, optimizer = kind([one], lr=0.1, **options), kind(several, lr=0.1, **options)
        for gradient in gradients:
            one.grad = gradient.clone()
            for each, placement in zip(several, (Shard(0), Shard(1), Shard(0)), strict=True):
                each.grad = sharded(gradient, size, placement)
            before = several[0]._version
            expected.step()
            optimizer.step()
            assert several[0]._version > before
        for each, placement in zip(several, placements, strict=True):
            assert each.placements == (placement,)
            torch.testing.assert_close(each.full_tensor(), one.detach())
