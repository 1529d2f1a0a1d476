"""Functions that cannot be recorded run as they are; what changes between calls is seen."""

from __future__ import annotations

import cProfile
import dataclasses
import functools
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import opweave
import pytest
from compiled_calls import check, facts
from opweave import nn

X = opweave.linspace(-2, 2, 12).reshape(3, 4)
SCALE = 2.0
TABLE = {"scale": 2.0, "more": [1.0]}
OFFSET = opweave.ones(4)


class Settings:
    scale = 3.0

    def __init__(self) -> None:
        self.offset = 1.0


SETTINGS = Settings()


def _left_alone(function: Callable[..., Any], reason: str, *args: Any) -> None:
    known = check(function, *args, is_recorded=False)
    assert not known.entries
    assert reason in str(known.refusals[-1])


def test_without_tensors() -> None:
    check(lambda: 3)
    check(lambda n: n + 1, 4)
    check(lambda n, s: (s * n, None, [True]), 2, "ab")


def test_elements_that_are_read() -> None:
    def function(x: Any) -> Any:
        return x + 1 if x.sum() > 0 else x - 1

    check(lambda x: x * float(x[0, 0]), X)
    _left_alone(lambda x: x.data * 2, "no operator has made", X)
    _left_alone(lambda x: x.data * 2, "no operator has made", X[:1, :1])
    _left_alone(lambda x: x.tolist(), "tolist() reads elements", X)
    _left_alone(lambda x: memoryview(x)[0, 0], "memoryview", X)
    _left_alone(lambda x: array("f", x[0])[0], "array", X)
    _left_alone(lambda x: opweave.from_numpy(x.numpy() + 1), "runs", X)
    with pytest.raises(RuntimeError, match=r"item\(\) reads elements for a number \(.*test_bad_input.py, line"):
        opweave.compile(function, fullgraph=True)(X)


def test_side_effects(capsys: pytest.CaptureFixture[str]) -> None:
    log: list[int] = []
    _left_alone(lambda x: (log.append(1), x * 2)[1], "changes what it reads", X)
    assert len(log) == 4
    _left_alone(lambda x: (print("called"), x * 2)[1], "print() is called", X)
    assert capsys.readouterr().out == "called\n" * 4
    _left_alone(lambda x: x * random.random() * 0, "is called", X)
    _left_alone(lambda x: x * len(os.getcwd()), "is called", X)


def test_variables_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 1.0

    def function(x: Any) -> Any:
        return x * SCALE + TABLE["scale"] - count + TABLE["more"][0] + SETTINGS.scale * SETTINGS.offset + OFFSET

    compiled = opweave.compile(function)

    def agrees() -> None:
        for _ in range(2):
            assert facts(compiled(X)) == facts(function(X))

    agrees()
    count = 2.0
    agrees()
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    agrees()
    monkeypatch.setitem(TABLE, "scale", 5.0)
    agrees()
    monkeypatch.setitem(TABLE, "more", [4.0])
    agrees()
    TABLE["more"].append(1.0)  # type: ignore[attr-defined]
    agrees()
    monkeypatch.setattr(SETTINGS, "offset", 7.0)
    agrees()
    OFFSET.mul_(2)
    agrees()
    opweave.compiler.reset()
    monkeypatch.setattr(Settings, "scale", 8.0)
    agrees()
    monkeypatch.setitem(globals(), "OFFSET", opweave.zeros(3, 1))
    agrees()
    monkeypatch.setitem(globals(), "len", lambda value: 3)
    agrees()


def test_dataclasses() -> None:
    @dataclasses.dataclass
    class Options:
        scale: float = 2.0

    options = Options()
    function = opweave.compile(lambda x: x * options.scale + 1, fullgraph=True)
    for options.scale in (2.0, 3.0, 3.0):
        assert function(X).equal(X * options.scale + 1)


def test_functions_that_change() -> None:
    value: Any = 1.0

    def scaled(x: Any, factor: Any = 2.0, *, offset: Any = 1.0) -> Any:
        return x * factor + offset + value  # noqa: F821 (deleted below)

    compiled = opweave.compile(lambda x: scaled(x) - 1)

    def agrees() -> None:
        for _ in range(2):
            assert facts(compiled(X)) == facts(scaled(X) - 1)

    agrees()
    scaled.__defaults__ = (3.0,)
    agrees()
    scaled.__kwdefaults__ = {"offset": 5.0}
    agrees()
    scaled.__kwdefaults__["offset"] = 7.0
    agrees()
    scaled.__code__ = (lambda value: lambda x, factor, *, offset: x - factor - value)(0).__code__
    agrees()
    del value
    with pytest.raises(NameError, match="value"):
        compiled(X)


def test_hooks_of_all_modules() -> None:
    layer, outside = nn.Linear(4, 2), opweave.compile(lambda x: x * 2 + 1)
    for function in (opweave.compile(lambda x: layer(x) + 1), opweave.compile(lambda x: nn.ReLU()(x) * 2 + 1)):
        before, plain = function(X), outside(X)
        handle = nn.modules.module.register_module_forward_hook(lambda module, args, output: output * 0 - 1)
        assert not function(X).equal(before)
        assert outside(X).equal(plain)
        handle.remove()
        for _ in range(2):
            assert function(X).equal(before)


def test_programs_of_the_core() -> None:
    from opweave._handle import answer, are_unchanged, signature

    wanted, other_size, table = signature((X,), True), signature((X[:2],), True), {"a": 1}
    assert wanted is not None
    assert other_size is not None
    assert signature((X,), False) == signature((X[:2],), False) != signature((X.double(),), False)
    program = (wanted, (), (table, "a", 1), None, lambda x: x.shape, {other_size: lambda x: len(x)})
    assert answer((program,), (X,)) == (3, 4)
    assert answer((program,), (X[:2],)) == 2
    for other in ((), (X, X), (OFFSET,), (X.double(),), (1,), (X.to_sparse(),)):
        assert answer((program,), other) is NotImplemented
    table["a"] = 2
    assert answer((program,), (X,)) is NotImplemented
    assert not are_unchanged((test_threads, "missing", None))
    with pytest.raises(ZeroDivisionError):
        answer(((wanted, (), (), lambda: 1 // 0, len, {}),), (X,))
    for wrong in ((), (1,), ((1,), (X,)), (((),), (X,)), ((program,), X)):
        with pytest.raises(TypeError, match="answer\\(\\) takes"):
            answer(*wrong)  # type: ignore[arg-type]


def test_numbers_that_change() -> None:
    compiled: Any = opweave.compile(lambda x, n: x * n)
    for number in (1, 1.0, True, 0.0, -0.0, float("nan"), 2, 1):
        for _ in range(2):
            assert facts(compiled(X, number)) == facts(X * number)


def test_shapes_that_change() -> None:
    compiled: Any = opweave.compile(lambda x: (x * x.shape[0]).sum(0) + 1)
    for count in range(1, 20):
        x = opweave.ones(count, 3)
        for _ in range(2):
            assert facts(compiled(x)) == facts((x * count).sum(0) + 1)
    assert len(compiled.compiled.entries) == 8


def test_arguments_that_are_one() -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2 + x

    compiled = opweave.compile(function)
    for is_one in (False, True, False, True, None, None):
        for _ in range(2):
            pairs = []
            for _ in range(2):
                x = X.clone()
                pairs.append((x, X.clone() if is_one is False else x if is_one else x[0]))
            assert facts(compiled(*pairs[0])) == facts(function(*pairs[1]))
            assert facts(pairs[0]) == facts(pairs[1])


def test_exceptions() -> None:
    def function(x: Any, y: Any) -> Any:
        return x * 2 + y

    compiled = opweave.compile(function)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="must match the size"):
            compiled(X, opweave.ones(3))
    assert facts(compiled(X, OFFSET)) == facts(function(X, OFFSET))

    def fails(x: Any) -> Any:
        raise KeyError(x.ndim)

    for _ in range(3):
        with pytest.raises(KeyError, match="2"):
            opweave.compile(fails)(X)
    assert not opweave.compiler.is_compiling()


def test_recursion() -> None:
    @opweave.compile
    def function(x: Any, n: int) -> Any:
        return x if n == 0 else function(x * 2 + 1, n - 1)

    for _ in range(3):
        assert function(X, 3).equal(X * 8 + 7)


def test_compiled_within_compiled() -> None:
    inner = opweave.compile(lambda x: x * 2 + 1)
    check(lambda x: inner(x) - inner(x * 3), X)


def test_generators_and_methods() -> None:
    class Scaled:
        def __init__(self) -> None:
            self.scale = 2.0

        @opweave.compile
        def call(self, x: Any) -> Any:
            return sum(x * each for each in (self.scale, 1.0))

    scaled = Scaled()
    for _ in range(3):
        assert scaled.call(X).equal(X * 3)
    scaled.scale = 4.0
    for _ in range(3):
        assert scaled.call(X).equal(X * 5)


def test_modules_that_change() -> None:
    layer = nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.9), nn.ReLU())
    opweave.compile(layer)
    with opweave.no_grad():
        for change in (
            lambda: layer.eval(),
            lambda: layer[0].weight.mul_(2),
            lambda: setattr(layer[0], "bias", None),
            lambda: layer[0].register_forward_hook(lambda module, args, output: output + 1),
            lambda: layer.append(nn.Linear(2, 3)),
        ):
            change()
            for _ in range(3):
                assert layer(X).equal(layer._call_impl(X))
    assert "_compiled_call_impl" not in layer.__getstate__()


def test_other_tensors() -> None:
    for x in (X.to_sparse(), X.to("meta"), X.rename("a", "b"), nn.Parameter(X.clone())):
        compiled: Any = opweave.compile(lambda x: x * 2)
        for _ in range(2):
            result = compiled(x)
            assert (result.device, result.layout, result.shape) == (x.device, x.layout, x.shape)


def test_threads() -> None:
    compiled: Any = opweave.compile(lambda x, y: (x * 2 + y).tanh() * y)
    want = (X * 2 + OFFSET).tanh() * OFFSET
    results: list[bool] = []

    def call() -> None:
        results.extend(compiled(X, OFFSET).equal(want) for _ in range(20))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == [True] * 80


def test_fork() -> None:
    compiled: Any = opweave.compile(lambda x: (x * 3 + 1).exp() - 1)
    want = compiled(X)
    child = os.fork()
    if not child:
        os._exit(0 if compiled(X).equal(want) and compiled(X + 1).shape == X.shape else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_fork_while_another_thread_records() -> None:
    compiled: Any = opweave.compile(lambda x: (x * 3 + 1).exp() - 1)
    want = compiled(X)
    known = compiled.compiled
    with known._lock:  # as another thread has it
        child = os.fork()
        if not child:
            signal.alarm(20)
            os._exit(0 if compiled(X[:2]).equal(want[:2]) and compiled(X).equal(want) and known.entries else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert known.entries


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    monkeypatch.setattr("opweave.compiler._drafts._warned", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(lambda x: (x * 1.25 + 1).exp() - 1, X)
        check(lambda x: (x * 1.375 + 1).exp() - 1, X)
    assert ["no-such-compiler" in str(each.message) for each in caught] == [True]


@pytest.mark.parametrize("damage", [b"", b"damaged", None])
def test_damaged_cache(damage: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from opweave.compiler import _kernels

    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    for _ in range(3):
        _kernels.KNOWN.clear()
        check(lambda x: (x * 1.5 + 1).exp() - 1, X)
        (kept,) = (tmp_path / "opweave" / "compiled").iterdir()
        if damage is not None:
            kept.write_bytes(damage)
        elif kept.is_file():
            kept.unlink()
            kept.mkdir()


def test_disable_and_reset() -> None:
    function = opweave.compiler.disable(lambda x: x * 2)
    assert opweave.compile(function) is function
    compiled: Any = opweave.compile(lambda x: opweave.ones(1) if opweave.compiler.is_compiling() else x)
    assert compiled(X).equal(compiled(X))
    opweave.compiler.reset()
    assert not compiled.compiled.entries


def test_profilers() -> None:
    compiled: Any = opweave.compile(lambda x: x * 2 + 1)
    with cProfile.Profile() as profile:
        assert compiled(X).equal(X * 2 + 1)
    assert any("<lambda>" in str(each.code) for each in profile.getstats())
    calls: list[str] = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    assert compiled(X).equal(compiled(X))
    sys.setprofile(None)
    assert len(compiled.compiled.entries) == 1
    assert calls


@pytest.mark.parametrize("needs_grad", [False, True])
@pytest.mark.parametrize("is_refused", [False, True])
def test_tensors_of_recorded_calls_end(needs_grad: bool, is_refused: bool) -> None:
    def function(x: Any) -> Any:
        y = (x * 2 + 1).exp()
        z = y.softmax(0) * y + x.t() @ x
        return y, z * (2 if z.sum() > 0 else float(z.sum()) if is_refused else -1)

    compiled: Any = opweave.compile(function)
    made = []
    for sign in (-1.0, 1.0):
        x = (opweave.ones(3, 3) * sign).requires_grad_(needs_grad)
        results = compiled(x)
        made += [weakref.ref(each) for each in (x, *results)]
    del x, results
    gc.collect()
    assert [each() for each in made] == [None] * 6


def test_explanation() -> None:
    text = opweave.compiler.explain(lambda x: (x * 2 + 1).sum(0), X)
    assert text.startswith("program 1: 1 kernel of 2 operators, 1 other operator\n")
    assert "kernel of mul, add: reads 48 bytes, writes 48" in text
    assert "static" in text
    assert "item() reads an element" in opweave.compiler.explain(lambda x: x.item(), OFFSET[:1])


def test_state_that_cannot_be_compared_breaks_no_graph() -> None:
    @functools.lru_cache
    def factor(n: int) -> float:
        return n / 2

    @opweave.compile(fullgraph=True)
    def scaled(x: Any) -> Any:
        return x * factor(x.ndim)

    assert [scaled(opweave.ones(2)).tolist() for _ in range(3)] == [[0.5, 0.5]] * 3
    assert "cannot be compared" in str(opweave.compiler.explain(scaled))


def test_kernels_are_compiled_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from opweave._toolchain import toolchain

    started: list[int] = []
    both = threading.Barrier(2, timeout=60)
    library = toolchain.library

    def compiled(*args: Any) -> bytes:
        started.append(threading.get_ident())
        both.wait()
        return library(*args)

    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    monkeypatch.setattr(toolchain, "library", compiled)
    monkeypatch.setattr(toolchain, "cores", lambda: 2)
    check(lambda x: ((x * 1.625 + 1).exp().cumsum(0) * 1.625).sin(), X)
    assert len({*started}) == 2


def test_callbacks_of_the_garbage_collector() -> None:
    seen: list[str] = []

    def callback(phase: str, info: Any) -> None:
        seen.append(phase)

    often, thresholds = (1, 1, 1), gc.get_threshold()
    gc.callbacks.append(callback)
    gc.set_threshold(*often)
    try:
        check(lambda x: [x * number + 1 for number in range(3)], X)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(callback)
    assert seen


def test_modules_that_are_imported_meanwhile() -> None:
    program = """
import sys
import opweave
function = opweave.compile(lambda x: opweave.nn.ReLU()(x) * 2)
assert "opweave.nn" not in sys.modules
x = opweave.tensor([-1.0, 2.0])
assert [function(x).tolist() for _ in range(2)] == [[0, 4]] * 2
hook = opweave.nn.modules.module.register_module_forward_hook(lambda module, given, result: result + 1)
assert [function(x).tolist() for _ in range(2)] == [[2, 6]] * 2
hook.remove()
assert function(x).tolist() == [0, 4]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_gradients_are_asked_for_within() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        y.requires_grad = True
        return y * 3

    compiled: Any = opweave.compile(function)
    assert all(compiled(opweave.ones(3)).requires_grad for _ in range(3))
    assert "requires_grad" in compiled.compiled.refusals[0]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x, n: (n // n, x + 1)[1], RuntimeError),
        (lambda x, n: (x.gather(1, n), x + 1)[1], RuntimeError),
        (lambda x, n: (nn.functional.one_hot(n[0], 3), x + 1)[1], RuntimeError),
        (lambda x, n: (opweave.linalg.cholesky(n[:, :3].double()), x + 1)[1], opweave.linalg.LinAlgError),
    ],
)
def test_errors_of_elements_of_results_that_nobody_uses(function: Callable[..., Any], error: type[Exception]) -> None:
    good = opweave.tensor([[2, 1, 1, 1], [1, 2, 1, 1], [1, 1, 2, 1]])
    compiled = opweave.compile(function)
    want = function(X, good)
    for _ in range(3):
        assert compiled(X, good).equal(want)
        for each in (function, compiled):
            with pytest.raises(error):
                each(X, -4 * (good == 1))


@pytest.mark.parametrize(
    "unused",
    [
        lambda x: opweave.fft.fft(x),
        lambda x: x.sort(),
        lambda x: x.tril(),
        lambda x: x @ x.mT,
        lambda x: x.var(),
        lambda x: x.masked_fill(x > 0, 1),
        lambda x: x.flip(0),
    ],
)
def test_results_that_nobody_uses_are_not_computed(unused: Callable[..., Any]) -> None:
    (entry,) = check(lambda x: (unused(x), x + 1)[1], X).entries
    assert len(entry.program.steps) == 1
