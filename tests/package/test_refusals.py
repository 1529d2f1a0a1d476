"""Namespaces whose functions say what to use in place of them."""

from __future__ import annotations

import os
import warnings

import opweave
import pytest


@pytest.mark.parametrize("name", ["load", "save", "freeze"])
def test_no_program_is_saved(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"opweave.jit.{name}\(\) does not exist: "):
        getattr(opweave.jit, name)(lambda x: x)


@pytest.mark.parametrize("name", ["load", "list", "help", "load_state_dict_from_url"])
def test_nothing_is_downloaded(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"opweave.hub.{name}\(\) does not exist: "):
        getattr(opweave.hub, name)("owner/repository")


def test_scripts_are_what_they_are_of() -> None:
    jit = opweave.jit
    module = opweave.nn.Linear(2, 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert jit.script(module) is module
        assert jit.script(len) is len
    assert len(caught) <= 1  # one in a process
    assert not isinstance(module, jit.ScriptModule)
    assert isinstance(type("Own", (jit.ScriptModule,), {})(), opweave.nn.Module)
    with pytest.raises(NotImplementedError, match="ScriptFunction has no instances"):
        jit.ScriptFunction()
    assert jit.wait(jit.fork(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        jit.wait(jit.fork(divmod, 7, 0))


def test_marks_of_functions_do_nothing() -> None:
    jit = opweave.jit

    @jit.ignore
    @jit.unused
    @jit.export
    def function(x: int) -> int:
        return x + 1

    assert jit.ignore(drop=True)(function)(1) == 2
    assert not jit.is_scripting()
    assert not jit.is_tracing()


def test_libraries_of_torch_are_not_loaded() -> None:
    with pytest.raises(OSError, match=r"Could not load this library: .*lib.so"):
        opweave.ops.load_library("lib.so")


def test_there_is_one_backend() -> None:
    distributed = opweave.distributed
    assert distributed.is_available()
    assert not distributed.is_initialized()
    assert not distributed.is_nccl_available()
    assert not isinstance(3, distributed.ProcessGroup)
    assert distributed.group.WORLD is None
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        distributed.get_rank()
    for name in distributed.__all__:
        assert hasattr(distributed, name)


def test_there_are_no_cuda_devices() -> None:
    for kind in (opweave.cuda.Stream, opweave.cuda.Event, opweave.cuda.CUDAGraph):
        assert isinstance(kind, type)
        with pytest.raises(RuntimeError, match="there are no such devices"):
            kind()
    with opweave.cuda.amp.autocast():
        assert opweave.mm(opweave.ones(2, 2), opweave.ones(2, 2)).dtype is opweave.float32
    assert opweave.cuda.amp.GradScaler().scale(3.0) == 3.0
    assert opweave.utils.checkpoint.get_device_states(opweave.ones(2)) == ([], [])


def test_what_libraries_ask_of_the_hub() -> None:
    hub = opweave.hub
    assert hub._get_torch_home() == os.path.dirname(hub.get_dir())
    assert hub.HASH_REGEX.search("resnet18-f37072fd.pth")[1] == "f37072fd"


def test_nothing_is_compiled_by_other_names() -> None:
    dynamo = opweave._dynamo
    dynamo.config.cache_size_limit = 64
    assert dynamo.disable(len) is len
    assert not dynamo.is_compiling()
    assert dynamo.optimize("inductor")(len) is len
    assert dynamo.mark_dynamic(opweave.ones(2), 0) is None
