"""Cases of sharded modules in use: their states, methods and settings, calls without gradients, and what is refused."""

import copy
import tempfile

import opweave as torch
import opweave.distributed as dist
import opweave.distributed.checkpoint as dcp
import pytest
from opweave import nn
from opweave.distributed import init_device_mesh
from opweave.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from opweave.distributed.fsdp import CPUOffloadPolicy, fully_shard, register_fsdp_forward_method
from opweave.distributed.tensor import DTensor
from sharded_models import Network, batches, network, same, sharded, train


def case_states(rank, size):
    single = network()
    model = sharded(single)
    model(torch.ones(2, 6))
    state = model.state_dict()
    assert all(isinstance(each, DTensor) for each in state.values())
    assert list(state) == list(single.state_dict())
    other = sharded(Network())
    other(torch.ones(2, 6))
    other.load_state_dict(state)
    same(other, single)
    other.load_state_dict(copy.deepcopy(state), assign=True)
    other.double().float()
    train(other, single, rank, size)


def case_calls_without_gradients(rank, size):
    single = network()
    model = sharded(single)
    x = torch.ones(3, 6)
    with torch.no_grad():
        assert torch.equal(model(x), single(x))
    with torch.inference_mode():
        assert torch.equal(model(x), single(x))
    assert isinstance(model.first.weight, DTensor)
    model(x)  # whose graph nobody needs
    with torch.no_grad():
        for each in (model, single):
            each.first.bias.add_(1) if each is single else model.reshard() or model.first.bias.add_(1)
    assert torch.equal(model(x), single(x))
    model.set_reshard_after_forward(False)
    with torch.no_grad():
        model(x)
    assert not isinstance(model.blocks[0].scale, DTensor)
    model.blocks[0].reshard()
    assert isinstance(model.blocks[0].scale, DTensor)
    model = sharded(single, reshard_after_forward=False)
    with torch.inference_mode():
        model(x)
    model(x).sum().backward()
    assert isinstance(model.blocks[0].scale.grad, DTensor)


def case_gathering_by_hand(rank, size):
    model = sharded(network())
    block = model.blocks[0]
    assert block.unshard() is None
    assert torch.equal(block.inner.weight, network().blocks[0].inner.weight)
    block.reshard()
    handle = block.unshard(async_op=True)
    handle.wait()
    assert not isinstance(block.inner.weight, DTensor)
    block.reshard()
    model.set_modules_to_forward_prefetch([model.blocks[0], model.blocks[1]])
    model.blocks[2].set_modules_to_backward_prefetch([model.blocks[1], model.blocks[0]])
    model.set_reduce_scatter_max_input_buffers(3)
    block.set_unshard_in_backward(False)
    train(model, network(), rank, size)


def case_other_methods(rank, size):
    class Encoder(nn.Linear):
        def encode(self, x):
            return self(x).tanh()

        def project(self, x):
            return nn.functional.linear(x, self.weight)

    model = fully_shard(Encoder(3, 4))
    register_fsdp_forward_method(model, "project")
    register_fsdp_forward_method(nn.Linear(2, 2), "nothing")
    assert type(model.project(torch.ones(1, 3))) is torch.Tensor
    assert model.encode(torch.ones(1, 3)).shape == (1, 4)
    with pytest.raises(ValueError, match="does not have a method nothing"):
        register_fsdp_forward_method(model, "nothing")


def case_failed_passes(rank, size):
    single = network()
    model = sharded(single)
    with pytest.raises(RuntimeError):
        model(torch.ones(2, 5))
    assert isinstance(model.first.weight, DTensor)

    def fail(grad):
        raise KeyError("the pass ends here")

    handle = model.blocks[1].register_forward_pre_hook(lambda module, args: args[0].register_hook(fail) and None)
    with pytest.raises(KeyError):
        model(torch.ones(2, 6)).sum().backward()
    handle.remove()
    model(torch.ones(2, 6)).sum().backward()
    handle = model.blocks[1].register_forward_pre_hook(lambda module, args: args[0].register_hook(fail) and None)
    with pytest.raises(KeyError):
        model(torch.ones(2, 6)).sum().backward()
    handle.remove()
    with pytest.raises(RuntimeError, match="must be called on the root FSDP module"):
        model.blocks[0].reset_iter_state()
    model.reset_iter_state()
    train(model, single, rank, size)


def case_checkpoints(rank, size):
    single = network()
    model = sharded(single)
    optimizers = [torch.optim.AdamW(each.parameters(), 0.01) for each in (model, single)]

    def step(one, other):
        part, whole = next(batches(rank, size))
        for each, x in ((one, part), (other, whole)):
            each.zero_grad()
            each(x).square().mean().backward()

    step(model, single)
    for each in optimizers:
        each.step()
    paths = [tempfile.mkdtemp() if rank == 0 else ""]
    dist.broadcast_object_list(paths, 0)
    state = dict(zip(("model", "optimizer"), get_state_dict(model, optimizers[0]), strict=True))
    dcp.save(state, checkpoint_id=paths[0])
    torch.manual_seed(9)
    other = sharded(Network())
    optimizer = torch.optim.AdamW(other.parameters(), 0.5)
    state = dict(zip(("model", "optimizer"), get_state_dict(other, optimizer), strict=True))
    dcp.load(state, checkpoint_id=paths[0])
    set_state_dict(other, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    same(other, single)
    step(other, single)
    optimizer.step()
    optimizers[1].step()
    same(other, single)


def case_whole_states(rank, size):
    single = network()
    model = sharded(single)
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
    for name, each in single.state_dict().items():
        assert torch.equal(state[name], each)
    other = sharded(Network())
    set_model_state_dict(other, single.state_dict(), options=StateDictOptions(full_state_dict=True))
    same(other, single)
    with torch.device("meta"):
        other = Network()
    other = sharded(other)
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(other, single.state_dict() if rank == 0 else {}, options=options)
    train(other, single, rank, size)


def with_parameter(parameter):
    module = nn.Linear(2, 2)
    module._parameters["weight"] = parameter
    return module


def case_modules_that_cannot_be_sharded(rank, size):
    model = fully_shard(nn.Linear(2, 3))
    with pytest.raises(AssertionError, match="fully_shard has already been applied"):
        fully_shard(model)
    with pytest.raises(ValueError, match="does not support containers that do not implement forward"):
        fully_shard(nn.ModuleList([nn.Linear(2, 2)]))
    tied = network()
    fully_shard(tied.last)
    scalar = nn.Parameter(torch.tensor(1.0))
    for error, text, module in (
        (ValueError, r"doesn't support scalar parameters\. Change weight to a 1D", with_parameter(scalar)),
        (ValueError, "parameters that are leaves, but weight was computed", with_parameter(nn.Linear(2, 2).weight * 2)),
        (NotImplementedError, "DTensors is not there, but weight is one", with_parameter(model.weight)),
        (NotImplementedError, "non-contiguous parameters", with_parameter(nn.Parameter(torch.ones(2, 3).t()))),
        (ValueError, "weight is uninitialized", nn.LazyLinear(2)),
        (ValueError, "'first.weight' is shared with a parameter already managed by another FSDP group", tied),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            fully_shard(module)


def case_options_that_are_refused(rank, size):
    for error, text, options in (
        (ValueError, f"should be a factor of {size}, not 3", {"reshard_after_forward": 3}),
        (ValueError, "should be a bool or an int", {"reshard_after_forward": "x"}),
        (ValueError, "Invalid shard_placement_fn result: 3", {"shard_placement_fn": lambda each: 3}),
        (ValueError, "expects a 1D or 2D DeviceMesh", {"mesh": init_device_mesh("cpu", (size, 1, 1))}),
        (AssertionError, "with mesh_dim_names specified", {"mesh": init_device_mesh("cpu", (1, size))}),
        (NotImplementedError, "dp_mesh_dims is not there", {"dp_mesh_dims": 3}),
    ):
        with pytest.raises(error, match=text):
            fully_shard(nn.Linear(2, 2), **options)


def case_what_sharded_modules_refuse(rank, size):
    model = fully_shard(nn.Linear(2, 3))
    with pytest.raises(AssertionError, match="does not support deepcopy"):
        copy.deepcopy(model)
    with pytest.raises(ValueError, match="Expects FSDPModule but got"):
        model.set_modules_to_forward_prefetch([nn.Linear(2, 2)])
    with pytest.raises(ValueError, match="should be a bool, got <class 'int'>"):
        model.set_reshard_after_forward(1)
    with pytest.raises(NotImplementedError, match="set_custom_all_gather"):
        model.set_custom_all_gather(None)
    with pytest.raises(ValueError, match="must be a positive int, got 0"):
        model.set_reduce_scatter_max_input_buffers(0)
    model = sharded(network(), offload_policy=CPUOffloadPolicy())
    model.blocks[0](torch.ones(1, 5))
    with pytest.raises(RuntimeError, match=r"(?s)already been lazily initialized for blocks\.0.*root module first"):
        model(torch.ones(1, 6))
    model = fully_shard(nn.Linear(2, 3))
    model.load_state_dict(nn.Linear(2, 3).state_dict(), assign=True)
    with pytest.raises(RuntimeError, match="weight of a sharded module must be a DTensor"):
        model(torch.ones(1, 2))
    container = fully_shard(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))
    assert type(container[:1]) is nn.Sequential
