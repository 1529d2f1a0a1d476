"""Checkpoints of several ranks: who writes what, loading elsewhere, and what fails on one rank."""

from __future__ import annotations

import os
import resource
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import opweave as ow
import opweave.distributed as dist
import opweave.distributed.checkpoint as dcp
import pytest
from opweave.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from opweave.distributed.device_mesh import init_device_mesh
from opweave.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

warnings.filterwarnings("ignore", "Detected an existing checkpoint")
warnings.filterwarnings("ignore", "torch.distributed is disabled")
WHOLE = ow.arange(35.0).view(7, 5)


def folder() -> Path:
    """A new folder, which is the same on all ranks."""
    paths = [tempfile.mkdtemp() if dist.get_rank() == 0 else ""]
    dist.broadcast_object_list(paths, 0)
    return Path(paths[0])


def sharded(*placements, tensor=WHOLE, mesh=None):
    return distribute_tensor(tensor, mesh or init_device_mesh("cpu", (dist.get_world_size(),)), placements)


@contextmanager
def raises(*texts):
    """A CheckpointException whose text has these texts, on all ranks."""
    with pytest.raises(dcp.CheckpointException) as error:
        yield
    assert all(text in str(error.value) for text in texts), str(error.value)
    dist.barrier()


def case_each_rank_writes_its_shard_and_replicas_are_written_once(rank, size):
    path = folder()
    state = {"sharded": sharded(Shard(0)), "replicated": sharded(Replicate()), "plain": WHOLE, "number": 3}
    metadata = dcp.save(state, checkpoint_id=path)
    assert len(metadata.state_dict_metadata["sharded"].chunks) == size
    assert len(metadata.state_dict_metadata["replicated"].chunks) == 1
    assert sorted(os.listdir(path)) == [".metadata", *(f"__{each}_0.distcp" for each in range(size))]
    places = metadata.storage_data
    assert len(places) == size + 3
    owners = [place.relative_path for index, place in places.items() if index.fqn == "sharded"]
    assert sorted(owners) == [f"__{each}_0.distcp" for each in range(size)]


def case_loading_at_other_placements(rank, size):
    path = folder()
    dcp.save({"a": sharded(Shard(0)), "b": sharded(Shard(1))}, checkpoint_id=path)
    targets = [sharded(each, tensor=ow.zeros(7, 5)) for each in (Shard(0), Shard(1), Replicate())]
    if size == 4:
        mesh = init_device_mesh("cpu", (2, 2))
        targets += [
            sharded(*pair, tensor=ow.zeros(7, 5), mesh=mesh)
            for pair in ((Shard(0), Shard(1)), (Shard(0), Shard(0)), (Shard(1), Replicate()))
        ]
    for key in "ab":
        for target in targets:
            dcp.load({key: target}, checkpoint_id=path)
            assert target.full_tensor().equal(WHOLE)
            target.to_local().zero_()
        plain = ow.zeros(7, 5, dtype=ow.float64)
        dcp.load({key: plain}, checkpoint_id=path)
        assert plain.equal(WHOLE.double())


def case_loading_on_fewer_ranks(rank, size):
    path = folder()
    dcp.save({"a": sharded(Shard(0)), "n": {"lr": 0.5, "betas": (0.9, 0.99)}}, checkpoint_id=path)
    state = {"a": ow.zeros(7, 5), "n": {"lr": 0.0, "betas": None}}
    dcp.load(state, checkpoint_id=path, no_dist=True)
    assert state["a"].equal(WHOLE)
    assert state["n"] == {"lr": 0.5, "betas": (0.9, 0.99)}
    some = dist.new_group([0, size - 1])
    if rank in (0, size - 1):
        target = ow.zeros(7, 5)
        dcp.load({"a": target}, checkpoint_id=path, process_group=some)
        assert target.equal(WHOLE)


def case_a_new_checkpoint_takes_the_place_of_the_old_one(rank, size):
    path = folder()
    for number in range(3):
        dcp.save({"a": sharded(Shard(0), tensor=WHOLE + number)}, checkpoint_id=path)
        assert len(os.listdir(path)) == size + 1
        dist.barrier()
    target = ow.zeros(7, 5)
    dcp.load({"a": target}, checkpoint_id=path)
    assert target.equal(WHOLE + 2)


def _model(placement):
    ow.manual_seed(0)
    model = ow.nn.Sequential(ow.nn.Linear(4, 6), ow.nn.Linear(6, 2))
    for layer in model:
        for name, parameter in list(layer.named_parameters()):
            setattr(layer, name, ow.nn.Parameter(sharded(placement, tensor=parameter.detach())))
    return model, ow.optim.Adam(model.parameters(), lr=0.1)


def _set_gradients(model, factor):
    for parameter in model.parameters():
        parameter.grad = ow.ones_like(parameter) * factor


def case_modules_and_optimizers(rank, size):
    path = folder()
    model, optimizer = _model(Shard(0))
    _set_gradients(model, 0.5)
    optimizer.step()
    states = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True))
    dcp.save(states, checkpoint_id=path)
    other, its = _model(Replicate())
    loaded = dict(zip(("model", "optimizer"), get_state_dict(other, its), strict=True))
    dcp.load(loaded, checkpoint_id=path)
    set_state_dict(other, its, model_state_dict=loaded["model"], optim_state_dict=loaded["optimizer"])
    for (_, one), (_, two) in zip(model.named_parameters(), other.named_parameters(), strict=True):
        assert one.full_tensor().equal(two.full_tensor())
        for key in ("exp_avg", "exp_avg_sq"):
            assert optimizer.state[one][key].full_tensor().equal(its.state[two][key].full_tensor())


def case_whole_state_dicts(rank, size):
    model, optimizer = _model(Shard(0))
    whole, state = get_state_dict(model, optimizer, options=StateDictOptions(full_state_dict=True))
    assert whole["0.weight"].shape == (6, 4)
    assert whole["0.weight"].equal(model[0].weight.full_tensor())
    on_first = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    assert bool(on_first) == (rank == 0)
    changed = {key: value + 1 for key, value in whole.items()}
    for options, given in (
        (StateDictOptions(full_state_dict=True), changed),
        (StateDictOptions(full_state_dict=True, broadcast_from_rank0=True), changed if rank == 0 else {}),
    ):
        other, its = _model(Shard(0))
        set_model_state_dict(other, given, options=options)
        assert other[1].bias.full_tensor().equal(changed["1.bias"])
        set_state_dict(
            other, its, model_state_dict=given, optim_state_dict=state if given else {}, options=options
        )  # fmt: skip
        assert its.state[other[0].weight]["exp_avg"].placements == (Shard(0),)


def case_saving_in_a_thread_while_ranks_compute_together(rank, size):
    path = folder()
    tensor = sharded(Shard(0))
    futures = [dcp.async_save({"a": tensor}, checkpoint_id=path / str(each)) for each in range(2)]
    tensor.to_local().zero_()
    for _ in range(20):
        total = ow.ones(3)
        dist.all_reduce(total)
        assert total.tolist() == [size] * 3
    for each, future in enumerate(futures):
        future.result(20)
        target = ow.zeros(7, 5)
        dcp.load({"a": target}, checkpoint_id=path / str(each))
        assert target.equal(WHOLE)


def case_ranks_that_disagree(rank, size):
    path = folder()
    with raises("ranks disagree on a: ", "float32 of sizes [2] on rank 0", "float32 of sizes [3] on rank 1"):
        dcp.save({"a": ow.zeros(2 + min(rank, 1))}, checkpoint_id=path)
    with raises("ranks disagree on a: ", "float32 of sizes [2] on rank 0, no tensor on rank 1"):
        dcp.save({"a": ow.zeros(2) if rank == 0 else 1}, checkpoint_id=path)
    assert os.listdir(path) == []


def case_partial_sums_are_refused(rank, size):
    from opweave.distributed.tensor import DTensor

    tensor = DTensor.from_local(ow.ones(2), init_device_mesh("cpu", (size,)), [Partial()])
    with raises("partial sums"):
        dcp.save({"a": tensor}, checkpoint_id=folder())


def case_a_full_disk_on_one_rank_leaves_the_old_checkpoint(rank, size):
    path = folder()
    dcp.save({"a": sharded(Shard(0))}, checkpoint_id=path)
    large = sharded(Shard(0), tensor=ow.ones(300_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if rank == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with raises("File too large", "__1_1.distcp", "RANK 1"):
            dcp.save({"a": large}, checkpoint_id=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(os.listdir(path)) == [".metadata", *(f"__{each}_0.distcp" for each in range(size))]
    target = ow.zeros(7, 5)
    dcp.load({"a": target}, checkpoint_id=path)
    assert target.equal(WHOLE)


def case_an_error_on_one_rank_is_raised_on_all(rank, size):
    path = folder()
    own = {"b": lambda: None} if rank == 1 else {}  # which cannot be pickled
    with raises("RANK 1", "pickle"):
        dcp.save({"a": sharded(Shard(0)), **own}, checkpoint_id=path)
    assert os.listdir(path) == []


def case_a_missing_file(rank, size):
    path = folder()
    dcp.save({"a": sharded(Shard(0))}, checkpoint_id=path)
    if rank == 0:
        os.unlink(path / "__1_0.distcp")
    dist.barrier()
    with raises("__1_0.distcp", "RANK 1"):
        dcp.load({"a": sharded(Shard(0))}, checkpoint_id=path)
