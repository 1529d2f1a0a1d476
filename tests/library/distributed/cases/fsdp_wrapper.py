"""Cases of `FullyShardedDataParallel`: training, wrapping, states, whole parameters."""

import copy
from functools import partial

import opweave as torch
import opweave.distributed as dist
import pytest
from opweave import nn
from opweave.distributed import init_device_mesh
from opweave.distributed.fsdp import (
    CPUOffload,
    FSDPModule,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    MixedPrecision,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictType,
)
from opweave.distributed.fsdp import FullyShardedDataParallel as FSDP  # noqa: N817 (the name in programs)
from opweave.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from opweave.distributed.fsdp.wrap import (
    CustomPolicy,
    ModuleWrapPolicy,
    _or_policy,
    always_wrap_policy,
    enable_wrap,
    lambda_auto_wrap_policy,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
    wrap,
)
from opweave.distributed.tensor import DTensor
from sharded_models import Block, Network, batches, network, same, train

BLOCKS = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})


def wrapped(single, **options):
    return FSDP(copy.deepcopy(single), auto_wrap_policy=BLOCKS, use_orig_params=True, **options)


def case_strategies_train_as_one_process(rank, size):
    for strategy in ShardingStrategy:
        single = network()
        model = wrapped(single, sharding_strategy=strategy, cpu_offload=CPUOffload())
        assert len(FSDP.fsdp_modules(model)) == 4
        assert FSDP.fsdp_modules(model, root_only=True) == [model]
        train(model, single, rank, size)
        assert model.check_is_root()
        assert not model.blocks[0].check_is_root()
    mesh = init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("replicate", "shard"))
    single = network()
    model = wrapped(single, sharding_strategy=ShardingStrategy.HYBRID_SHARD, device_mesh=mesh)
    train(model, single, rank, size)


def case_parts_that_policies_choose(rank, size):
    def names(policy):
        model = FSDP(nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 40), nn.Linear(40, 4))),
                     auto_wrap_policy=policy)  # fmt: skip
        assert isinstance(model.module, FSDPModule)
        return [
            name.replace("_fsdp_wrapped_module.", "")
            for name, each in model.named_modules()
            if isinstance(each, FSDP) and name
        ]

    assert names(None) == []
    assert names(always_wrap_policy) == ["0", "1", "1.0", "1.1"]
    assert names(ModuleWrapPolicy({nn.Linear})) == ["0", "1.0", "1.1"]
    assert names(partial(size_based_auto_wrap_policy, min_num_params=150)) == ["1.0", "1.1"]
    assert names(partial(size_based_auto_wrap_policy, min_num_params=300)) == ["1"]
    big = partial(lambda_auto_wrap_policy, lambda_fn=lambda each: getattr(each, "out_features", 0) == 40)
    assert names(big) == ["1.0"]
    assert names(partial(_or_policy, policies=[big, ModuleWrapPolicy({nn.Sequential})])) == ["1", "1.0"]
    assert names(CustomPolicy(lambda each: {"mixed_precision": None} if isinstance(each, nn.Linear) else False)) == [
        "0",
        "1.0",
        "1.1",
    ]
    with pytest.raises(ValueError, match="should return False/True or a kwarg dict"):
        names(CustomPolicy(lambda each: 3))
    assert type(wrap(nn.Linear(2, 2))) is nn.Linear
    with enable_wrap(wrapper_cls=FSDP, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP):
        assert wrap(nn.Linear(2, 2)).sharding_strategy is ShardingStrategy.SHARD_GRAD_OP


def case_whole_states(rank, size):
    single = network()
    model = wrapped(single)
    model(torch.ones(1, 6))
    assert FSDP.get_state_dict_type(model).state_dict_type is StateDictType.FULL_STATE_DICT
    state = model.state_dict()
    assert list(state) == list(single.state_dict())
    for name, each in single.state_dict().items():
        assert torch.equal(state[name], each)
    other = wrapped(Network())
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    same(other, single)
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(rank0_only=True)):
        assert len(model.state_dict()) == (0 if rank else len(state))
    with pytest.raises(RuntimeError, match="Missing key"):
        other.load_state_dict({name: each for name, each in state.items() if name != "blocks.1.scale"})


def case_sharded_states(rank, size):
    single = network()
    model = wrapped(single)
    with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig()):
        state = model.state_dict()
        assert all(isinstance(each, DTensor) for each in state.values())
        other = wrapped(Network())
        other.load_state_dict(state)
    same(other, single)
    with pytest.raises(NotImplementedError, match="there are no flat parameters"):
        FSDP.set_state_dict_type(model, StateDictType.LOCAL_STATE_DICT)
    with pytest.raises(RuntimeError, match="Expected state_dict_config of type"):
        FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, ShardedStateDictConfig())


def case_states_of_optimizers(rank, size):
    single = network()
    model = wrapped(single)
    optimizers = [torch.optim.AdamW(each.parameters(), 0.01) for each in (model, single)]

    def step(one, optimizer):
        part, whole = next(batches(rank, size))
        for each, x, own in ((one, part, optimizer), (single, whole, optimizers[1])):
            own.zero_grad()
            each(x).square().mean().backward()
            own.step()

    step(model, optimizers[0])
    for kind, given in (
        (StateDictType.FULL_STATE_DICT, FullOptimStateDictConfig(rank0_only=False)),
        (StateDictType.SHARDED_STATE_DICT, None),
    ):
        FSDP.set_state_dict_type(model, kind, None, given)
        state, weights = FSDP.optim_state_dict(model, optimizers[0]), model.state_dict()
        moments = state["state"]["blocks.0.inner.weight"]["exp_avg"]
        assert isinstance(moments, DTensor) == (kind is StateDictType.SHARDED_STATE_DICT)
        other = wrapped(Network())
        FSDP.set_state_dict_type(other, kind, None, given)
        other.load_state_dict(weights)
        optimizer = torch.optim.AdamW(other.parameters(), 0.5)
        optimizer.load_state_dict(FSDP.optim_state_dict_to_load(other, optimizer, state))
        before = copy.deepcopy(single.state_dict()), copy.deepcopy(optimizers[1].state_dict())
        step(other, optimizer)
        same(other, single)
        single.load_state_dict(before[0])
        optimizers[1].load_state_dict(before[1])
    FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, None, FullOptimStateDictConfig(rank0_only=True))
    assert bool(FSDP.optim_state_dict(model, optimizers[0])) == (rank == 0)


def case_whole_parameters(rank, size):
    single = network()
    model = wrapped(single, mixed_precision=MixedPrecision(param_dtype=torch.bfloat16))
    with FSDP.summon_full_params(model):
        assert [name for name, _ in model.named_parameters()] == [name for name, _ in single.named_parameters()]
        for one, other in zip(model.parameters(), single.parameters(), strict=True):
            assert torch.equal(one, other)
        with torch.no_grad():
            model.blocks[0].scale.mul_(2)
    assert isinstance(model.blocks[0].scale, DTensor)
    assert model.blocks[0].scale.full_tensor().tolist() == [2.0] * 5
    with FSDP.summon_full_params(model, writeback=False), torch.no_grad():
        model.blocks[0].scale.mul_(2)
    assert model.blocks[0].scale.full_tensor().tolist() == [2.0] * 5
    with pytest.raises(NotImplementedError, match="with_grads"), FSDP.summon_full_params(model, with_grads=True):
        pass
    torch.manual_seed(4)
    model.apply(lambda each: nn.init.zeros_(each.weight) if isinstance(each, nn.Linear) else None)
    assert not model.blocks[2].inner.weight.full_tensor().any()


def case_accumulation_and_clipping(rank, size):
    single = network()
    model = wrapped(single)
    given = list(batches(rank, size))
    with model.no_sync():
        for part, _ in given[:-1]:
            model(part).sum().backward()
    model(given[-1][0]).sum().backward()
    for _, whole in given:
        (single(whole).sum() / size).backward()
    norms = model.clip_grad_norm_(0.1), nn.utils.clip_grad_norm_(single.parameters(), 0.1)
    torch.testing.assert_close(*norms)
    same(model, single, lambda each: each.grad)


def case_precision(rank, size):
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.last = nn.BatchNorm1d(6), nn.Linear(6, 2)

        def forward(self, x):
            return self.last(self.norm(x))

    halves = MixedPrecision(torch.bfloat16, torch.float32, torch.bfloat16)
    model = FSDP(Normed(), mixed_precision=halves, sync_module_states=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    result = model(torch.randn(8, 6))
    assert result.dtype is torch.bfloat16
    assert model.norm.running_mean.dtype is torch.bfloat16
    scaler = ShardedGradScaler("cpu", init_scale=8.0)
    scaler.scale(result.float().sum() * (float("inf") if rank == 0 else 1)).backward()
    before = model.last.bias.full_tensor().clone()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 4
    assert torch.equal(model.last.bias.full_tensor(), before)


def case_parameters_of_the_device_meta_and_of_rank_0(rank, size):
    torch.manual_seed(rank)
    model = FSDP(Network(), auto_wrap_policy=BLOCKS, sync_module_states=True)
    torch.manual_seed(0)
    same(model, Network())
    with torch.device("meta"):
        module = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    model = FSDP(module, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}))
    assert model(torch.ones(1, 3)).shape == (1, 2)
    with torch.device("meta"):
        module = nn.Linear(3, 4)
    model = FSDP(module, param_init_fn=lambda each: nn.init.ones_(each.to_empty(device="cpu").weight))
    assert model.weight.full_tensor().tolist() == [[1.0] * 3] * 4


def case_ignored_modules(rank, size):
    module = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    model = FSDP(module, ignored_modules=[module[0]], auto_wrap_policy=ModuleWrapPolicy({nn.Linear}))
    assert not isinstance(model[0].weight, DTensor)
    assert isinstance(model[1].weight, DTensor)
    assert isinstance(model[1], FSDP)
    assert model(torch.ones(1, 3)).shape == (1, 2)


def case_meshes_that_strategies_do_not_take(rank, size):
    mesh = init_device_mesh("cpu", (size, 1), mesh_dim_names=("replicate", "shard"))
    for options, text in (
        ({"process_group": dist.group.WORLD, "device_mesh": mesh}, "Cannot pass both"),
        ({"device_mesh": mesh}, "expects a device_mesh of one dimension"),
        ({"sharding_strategy": ShardingStrategy.HYBRID_SHARD, "process_group": dist.group.WORLD}, "of two dimensions"),
    ):
        with pytest.raises(ValueError, match=text):
            FSDP(nn.Linear(2, 2), **options)
