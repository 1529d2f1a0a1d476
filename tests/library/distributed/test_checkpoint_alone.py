"""Checkpoints of one process without a group: their format, damaged files, and an end at any moment."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections import OrderedDict
from pathlib import Path

import opweave as ow
import opweave.distributed as dist
import opweave.distributed.checkpoint as dcp
import pytest
from opweave.distributed.checkpoint import filesystem
from opweave.distributed.checkpoint.format_utils import dcp_to_torch_save, torch_save_to_dcp
from opweave.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from opweave.distributed.checkpoint.state_dict_loader import _load_state_dict_from_keys

pytestmark = [
    pytest.mark.filterwarnings("ignore:torch.distributed is"),
    pytest.mark.filterwarnings("ignore:Detected an existing checkpoint"),
]


def failure(error) -> BaseException:
    """The error of the one rank that there is."""
    return error.value.failures[0][0]


def test_nested_values_come_back(tmp_path):
    state = {
        "n": 1,
        "text": "abc",
        "none": None,
        "list": [1, 2.5],
        "nested": {"a": ow.arange(6.0).view(2, 3), "b": [ow.ones(2), {"c": ow.tensor(3)}]},
        "view": ow.arange(10)[::3],
        "empty": ow.zeros(0, 3),
        "bfloat16": ow.ones(3, dtype=ow.bfloat16),
        "ordered": OrderedDict(x=ow.zeros(1)),
    }
    dcp.save(state, checkpoint_id=tmp_path / "a" / "b")
    loaded = _load_state_dict_from_keys(checkpoint_id=tmp_path / "a" / "b")
    assert loaded.keys() == state.keys()
    assert loaded["list"] == [1, 2.5]
    ow.testing.assert_close(loaded["nested"], state["nested"])
    for key in ("view", "empty", "bfloat16"):
        ow.testing.assert_close(loaded[key], state[key])
    some = _load_state_dict_from_keys({"nested.b", "n"}, checkpoint_id=tmp_path / "a" / "b")
    assert some.keys() == {"n", "nested"}
    assert some["nested"].keys() == {"b"}


def test_tensors_are_loaded_in_place_and_other_values_replaced(tmp_path):
    dcp.save({"a": ow.ones(3), "n": 5, "m": ow.ones(2)}, checkpoint_id=tmp_path)
    tensor = ow.zeros(3, requires_grad=True)
    state = {"a": tensor, "n": 0, "m": ow.zeros(2, device="meta")}
    dcp.load(state, checkpoint_id=tmp_path)
    assert state["a"] is tensor
    assert tensor.tolist() == [1, 1, 1]
    assert state["n"] == 5
    assert state["m"].tolist() == [1, 1]


def test_objects_with_a_state(tmp_path):
    model, other = ow.nn.Linear(2, 3), ow.nn.Linear(2, 3)
    dcp.save({"model": model}, checkpoint_id=tmp_path)
    dcp.load({"model": other}, checkpoint_id=tmp_path)
    assert model.weight.equal(other.weight)


def test_saving_in_a_thread_takes_what_there_was(tmp_path):
    tensor, values = ow.ones(3), [1]
    future = dcp.async_save({"a": tensor, "l": values}, checkpoint_id=tmp_path)
    tensor.zero_()
    values.append(2)
    assert future.result(30).version == "1.0.0"
    state = {"a": ow.zeros(3), "l": None}
    dcp.load(state, checkpoint_id=tmp_path)
    assert state["a"].tolist() == [1, 1, 1]
    assert state["l"] == [1]


def test_the_deprecated_names(tmp_path):
    with pytest.warns(FutureWarning, match="deprecated"):
        dcp.save_state_dict({"a": ow.ones(2)}, dcp.FileSystemWriter(tmp_path), no_dist=True)
    target = ow.zeros(2)
    with pytest.warns(FutureWarning, match="deprecated"):
        dcp.load_state_dict({"a": target}, dcp.FileSystemReader(tmp_path), no_dist=True)
    assert target.tolist() == [1, 1]


def test_conversion_to_a_file_and_back(tmp_path):
    state = {"model": {"a": ow.arange(4.0)}, "epoch": 3}
    ow.save(state, tmp_path / "file.pt")
    torch_save_to_dcp(tmp_path / "file.pt", tmp_path / "folder")
    dcp_to_torch_save(tmp_path / "folder", tmp_path / "again.pt")
    again = ow.load(tmp_path / "again.pt")
    assert again["epoch"] == 3
    assert again["model"]["a"].equal(state["model"]["a"])


def test_a_file_for_each_value(tmp_path):
    dcp.save({"a": ow.ones(2), "b": 1}, storage_writer=dcp.FileSystemWriter(tmp_path, single_file_per_rank=False))
    assert sorted(os.listdir(tmp_path)) == [".metadata", "__0_0.distcp", "__0_1.distcp"]


# ---- torch's format ------------------------------------------------------------------------------------------

RECORDED = Path(__file__).parents[1] / "files" / "data" / "checkpoint"


def test_a_checkpoint_that_torch_has_written():
    state = {"model": {"weight": ow.zeros(2, 3)}, "epoch": 0, "list": [ow.zeros(2), {"b": ow.zeros(1)}]}
    dcp.load(state, checkpoint_id=RECORDED)
    assert state["model"]["weight"].equal(ow.arange(6.0).view(2, 3))
    assert state["epoch"] == 7
    assert [state["list"][0].tolist(), state["list"][1]["b"].tolist()] == [[1, 1], [2]]


def test_checkpoints_beside_torch(tmp_path):
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("torch.distributed.checkpoint")

    def state(library):
        tensor = library.arange(6.0).reshape(2, 3)
        return {"a": tensor, "t": [tensor.t(), {"n": 1}], "h": library.ones(2, dtype=library.bfloat16), "s": [1, "x"]}

    for number, (writer, reader, library) in enumerate(((dcp, theirs, torch), (theirs, dcp, ow), (dcp, dcp, ow))):
        writer.save(state(ow if writer is dcp else torch), checkpoint_id=tmp_path / str(number))
        expected, found = state(library), state(library)
        found.update(a=library.zeros(2, 3), h=library.zeros(2), s=None)
        found["t"][1]["n"] = 0
        reader.load(found, checkpoint_id=tmp_path / str(number))
        assert found["a"].equal(expected["a"])
        assert found["t"][0].equal(expected["t"][0])
        assert found["h"].tolist() == [1, 1]
        assert (found["t"][1], found["s"]) == ({"n": 1}, [1, "x"])


# ---- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "kind", "text"),
    [
        ({"c": 1}, RuntimeError, "Missing key in checkpoint state_dict: c."),
        ({"a": ow.zeros(4)}, ValueError, r"Size mismatch between saved .*\[3\]\) and current: .*\[4\]\) for a"),
        ({"a": 1}, ValueError, "Invalid checkpoint metadata for a, expected BytesStorageMetadata but found"),
    ],
)  # fmt: skip
def test_state_dicts_that_do_not_fit(tmp_path, state, kind, text):
    dcp.save({"a": ow.ones(3)}, checkpoint_id=tmp_path)
    with pytest.raises(dcp.CheckpointException, match=text) as error:
        dcp.load(state, checkpoint_id=tmp_path)
    assert type(failure(error)) is kind


def test_missing_keys_may_be_allowed(tmp_path):
    dcp.save({"a": ow.ones(3)}, checkpoint_id=tmp_path)
    state = {"a": ow.zeros(3), "c": ow.zeros(2)}
    dcp.load(state, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert state["a"].tolist() == [1, 1, 1]
    assert state["c"].tolist() == [0, 0]


def test_a_checkpoint_that_may_not_be_replaced(tmp_path):
    dcp.save({"a": 1}, checkpoint_id=tmp_path)
    with pytest.raises(dcp.CheckpointException, match=r"Checkpoint already exists and self.overwrite=False\."):
        dcp.save({"a": 2}, storage_writer=dcp.FileSystemWriter(tmp_path, overwrite=False))


def test_neither_a_folder_nor_a_writer():
    for function in (dcp.save, dcp.load):
        with pytest.raises(RuntimeError, match="`checkpoint_id` must be specified"):
            function({})


def test_keys_that_become_the_same(tmp_path):
    with pytest.raises(dcp.CheckpointException, match=r"duplicated flatten key a\.b"):
        dcp.save({"a": {"b": 1}, "a.b": 2}, checkpoint_id=tmp_path)


# ---- damaged files -------------------------------------------------------------------------------------------


def test_a_folder_without_a_checkpoint(tmp_path):
    with pytest.raises(dcp.CheckpointException, match=r"\.metadata") as error:
        dcp.load({"a": 1}, checkpoint_id=tmp_path / "nowhere")
    assert isinstance(failure(error), FileNotFoundError)


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_truncated_metadata(tmp_path, length):
    dcp.save({"a": ow.ones(3)}, checkpoint_id=tmp_path)
    data = (tmp_path / ".metadata").read_bytes()
    (tmp_path / ".metadata").write_bytes(data[:length])
    with pytest.raises(dcp.CheckpointException, match=r"\.metadata is not the metadata of a checkpoint, or is damaged"):
        dcp.load({"a": ow.ones(3)}, checkpoint_id=tmp_path)


class _Harmful:
    def __reduce__(self):
        return os.mkdir, ("harm",)


def test_metadata_that_would_run_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".metadata").write_bytes(pickle.dumps(_Harmful()))
    with pytest.raises(dcp.CheckpointException, match="mkdir was not an allowed global"):
        dcp.load({"a": 1}, checkpoint_id=tmp_path)
    assert not (tmp_path / "harm").exists()


def test_metadata_that_lead_out_of_the_folder(tmp_path):
    metadata = dcp.save({"a": ow.ones(3)}, checkpoint_id=tmp_path)
    for place in metadata.storage_data.values():
        place.relative_path = "../secret"
    (tmp_path / ".metadata").write_bytes(filesystem.pickled(metadata))
    with pytest.raises(dcp.CheckpointException, match="outside the checkpoint"):
        dcp.load({"a": ow.ones(3)}, checkpoint_id=tmp_path)


@pytest.mark.parametrize("length", [0, 10, 1500])
def test_truncated_chunks(tmp_path, length):
    dcp.save({"a": ow.ones(100)}, checkpoint_id=tmp_path)
    os.truncate(tmp_path / "__0_0.distcp", length)
    with pytest.raises(dcp.CheckpointException, match=r"__0_0\.distcp"):
        dcp.load({"a": ow.ones(100)}, checkpoint_id=tmp_path)


def test_changed_elements(tmp_path):
    dcp.save({"a": ow.ones(100)}, checkpoint_id=tmp_path)
    path = tmp_path / "__0_0.distcp"
    data = path.read_bytes()
    path.write_bytes(data.replace(ow.ones(100).numpy().tobytes(), ow.ones(100).mul(2).numpy().tobytes()))
    with pytest.raises(dcp.CheckpointException, match=r"__0_0\.distcp: a cannot be read: .*checksum"):
        dcp.load({"a": ow.ones(100)}, checkpoint_id=tmp_path)


# ---- an end at any moment ------------------------------------------------------------------------------------


def _end_at(count: int, folder: str) -> bool:
    """Save in a process that ends at the line of filesystem.py of this number; whether it got to its end."""
    child = os.fork()
    if not child:
        left = count

        def trace(frame, event, _):
            nonlocal left
            if frame.f_code.co_filename != filesystem.__file__:
                return None
            if event == "line":
                left -= 1
                if left < 0:
                    os._exit(9)
            return trace

        sys.settrace(trace)
        try:
            dcp.save({"a": ow.full((3,), 2.0), "b": 2}, checkpoint_id=folder)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def test_an_end_at_any_line_leaves_one_of_the_checkpoints(tmp_path):
    found = set()
    dcp.save({"a": ow.full((3,), 1.0), "b": 1}, checkpoint_id=tmp_path / "old")
    for count in range(1000):
        folder = shutil.copytree(tmp_path / "old", tmp_path / str(count))
        is_done = _end_at(count, folder)
        state = {"a": ow.zeros(3), "b": 0}
        dcp.load(state, checkpoint_id=folder)
        assert state["a"].tolist() == [state["b"]] * 3
        found.add(state["b"])
        if is_done:
            break
    assert is_done
    assert found == {1, 2}
    assert state["b"] == 2
    assert len(os.listdir(folder)) == 2


# ---- states of modules and optimizers ------------------------------------------------------------------------


def _model():
    model = ow.nn.Sequential(ow.nn.Linear(2, 3), ow.nn.Linear(3, 1))
    groups = [{"params": list(model[1].parameters())}, {"params": list(model[0].parameters()), "lr": 0.5}]
    return model, ow.optim.Adam(groups, lr=0.1)


@pytest.mark.parametrize("options", [{}, {"full_state_dict": True, "cpu_offload": True}])
def test_states_by_names(options):
    model, optimizer = _model()
    state, of_optimizer = get_state_dict(model, optimizer, options=StateDictOptions(**options))
    assert list(of_optimizer["state"]) == ["1.weight", "1.bias", "0.weight", "0.bias"]
    assert [group["params"] for group in of_optimizer["param_groups"]] == [
        ["1.weight", "1.bias"],
        ["0.weight", "0.bias"],
    ]
    other = ow.nn.Sequential(ow.nn.Linear(2, 3), ow.nn.Linear(3, 1))
    its = ow.optim.Adam(other.parameters(), lr=0.3)
    result = set_state_dict(
        other,
        its,
        model_state_dict=state,
        optim_state_dict=of_optimizer,
        options=StateDictOptions(**options),
    )
    assert result.missing_keys == result.unexpected_keys == []
    assert model[0].weight.equal(other[0].weight)
    assert its.state[other[0].weight]["step"].item() == 1


def test_flat_states_of_optimizers():
    model = ow.nn.Linear(2, 1)
    optimizer = ow.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    options = StateDictOptions(flatten_optimizer_state_dict=True)
    state = get_optimizer_state_dict(model, optimizer, options=options)
    assert {"state.weight.momentum_buffer", "param_groups.bias.lr"} <= state.keys()
    state.update({key: 0.7 for key in state if key.endswith(".lr")})
    set_optimizer_state_dict(model, optimizer, state, options=options)
    assert optimizer.param_groups[0]["lr"] == 0.7
    state["param_groups.bias.lr"] = 0.1
    with pytest.raises(RuntimeError, match="All the parameters in the same parameter group should have the same"):
        set_optimizer_state_dict(model, optimizer, state, options=options)


def test_states_that_do_not_fit():
    model, optimizer = _model()
    state = get_optimizer_state_dict(model, optimizer)
    del state["state"]["0.weight"]
    with pytest.raises(RuntimeError, match=r"Missing optimizer state for parameter '0\.weight' in checkpoint"):
        set_optimizer_state_dict(model, optimizer, state)
    set_optimizer_state_dict(model, optimizer, state, options=StateDictOptions(strict=False))
    with pytest.raises(RuntimeError, match="model state_dict is empty"):
        set_model_state_dict(model, {})
    with pytest.raises(ValueError, match="full_state_dict must be True when broadcast_from_rank0 is True"):
        set_model_state_dict(model, {}, options=StateDictOptions(broadcast_from_rank0=True))


def test_names_of_a_module_that_averages_gradients():
    dist.init_process_group()
    try:
        model = ow.nn.parallel.DistributedDataParallel(ow.nn.Linear(2, 1))
        state = get_model_state_dict(model)
        assert list(state) == ["weight", "bias"]
        assert set_model_state_dict(model, state).missing_keys == []
    finally:
        dist.destroy_process_group()
