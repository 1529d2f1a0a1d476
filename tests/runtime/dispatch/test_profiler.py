"""The profiler: which calls it sees, how they nest, and what it costs where it is off."""

import gzip
import json
import threading
import time
import warnings

import opweave
import pytest
from opweave._handle import include
from opweave.autograd import profiler as autograd_profiler
from opweave.library import custom_op
from opweave.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)


def tree(events, parent=None):
    """Names of events with those within them."""
    return [(each.name, tree(events, each)) for each in events if each.cpu_parent is parent]


def names(profiler):
    return [each.name for each in profiler.events()]


@custom_op("profiled::sleeps", mutates_args=())
def sleeps(x: opweave.Tensor) -> opweave.Tensor:
    time.sleep(0.003)
    return x * 2


def test_nesting():
    x, w = opweave.ones(4, 5), opweave.ones(3, 5)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as measured:
        with record_function("block"):
            y = opweave.nn.functional.linear(x, w)
        y.add_(1)
        opweave.add(y, y, out=y)
        y[0] + 1
    assert tree(measured.events()) == [
        ("block", [("aten::linear", [("aten::t", []), ("aten::matmul", [("aten::mm", [])])])]),
        ("aten::add_", []),
        ("aten::add", []),
        ("aten::select", []),
        ("aten::add", []),
    ]
    shapes = {each.name: each.input_shapes for each in measured.events()}
    assert shapes["aten::linear"] == [[4, 5], [3, 5], []]
    assert shapes["block"] == []
    assert y.tolist()[0][0] == 12.0


def test_times():
    x = opweave.ones(2)
    with profile() as measured, record_function("outer"):
        sleeps(x)
        sleeps(x)
    averages = {each.key: each for each in measured.key_averages()}
    inner, outer = averages["profiled::sleeps"], averages["outer"]
    assert inner.count == 2
    assert inner.cpu_time_total >= 6000
    assert inner.self_cpu_time_total >= 6000
    assert inner.cpu_time == inner.cpu_time_total / 2
    assert outer.cpu_time_total >= inner.cpu_time_total
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inner.cpu_time_total)
    total = measured.events().total_average()
    assert total.key == "Total"
    assert total.count == len(measured.events())
    assert total.self_cpu_time_total == pytest.approx(outer.cpu_time_total)


def test_backward():
    x = opweave.ones(3, requires_grad=True)
    with profile(record_shapes=True, with_stack=True) as measured:
        loss = (x * 2).relu().sum()
        loss.backward()
    events = measured.events()
    evaluated = "autograd::engine::evaluate_function: "
    steps = [each for each in events if each.name.startswith(evaluated)]
    accumulate = "torch::autograd::AccumulateGrad"
    nodes = ["SumBackward0", "ReluBackward0", "MulBackward0", accumulate]
    assert [each.name.removeprefix(evaluated) for each in steps] == nodes
    assert [[child.name for child in each.cpu_children] for each in steps] == [[name] for name in nodes]
    assert all(each.cpu_parent is None for each in steps)
    mul = next(each for each in events if each.name == "MulBackward0")
    assert "aten::mul" in [each.name for each in mul.cpu_children]
    assert mul.scope == 1
    assert mul.input_shapes == [[3]]
    # What a node does is told with the line of its forward call.
    forward = next(each for each in events if each.name == "aten::mul")
    assert forward.sequence_nr == mul.sequence_nr >= 0
    assert mul.stack == forward.stack
    assert "test_backward" in forward.stack[0]
    assert x.grad.tolist() == [2.0] * 3


def test_gradients_are_the_same():
    def gradient():
        x = opweave.linspace(-3, 3, 50, requires_grad=True)
        opweave.nn.functional.gelu(x).tanh().sum().backward()
        return x.grad

    plain = gradient()
    with profile():
        measured = gradient()
    assert opweave.equal(plain, measured)


def test_exceptions_go_on():
    class Raises(opweave.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("backward")

    x = opweave.ones(2, requires_grad=True)
    with profile() as measured:
        with pytest.raises(RuntimeError, match="size"), record_function("fails"):
            opweave.ones(2) + opweave.ones(3)
        with pytest.raises(KeyError):
            Raises.apply(x).sum().backward()
        opweave.ones(1)
    assert all(each.time_range.end >= each.time_range.start for each in measured.events())
    assert tree(measured.events())[-1] == ("aten::ones", [])
    measured = profile()
    with pytest.raises(RuntimeError, match="size"), measured:
        opweave.zeros(1).reshape(2)
    assert names(measured) == ["aten::zeros", "aten::reshape"]
    with profile() as measured:  # nothing of the one before is left
        pass
    assert names(measured) == []


def test_off_means_off():
    function = record_function("unseen")(lambda: opweave.ones(2))
    with profile() as measured:
        pass
    function()
    assert measured.events() == []
    assert include(0) == 0
    assert measured.key_averages().table() == ""


def test_threads_are_apart():
    seen = []

    def other():
        opweave.zeros(2)
        with profile() as inner:
            opweave.full((2,), 3)
        seen.append(names(inner))

    with profile() as measured:
        opweave.ones(2)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert names(measured) == ["aten::ones"]
    assert seen == [["aten::full"]]


def test_one_profiler_for_a_thread():
    with profile() as measured:
        with pytest.raises(RuntimeError, match="already enabled"), autograd_profiler.profile():
            pass
        opweave.ones(2)
    assert names(measured) == ["aten::ones"]


def test_modes_and_subclasses_are_seen_once():
    class Mine(opweave.Tensor):
        pass

    class Mode(opweave.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = opweave.ones(2).as_subclass(Mine)
    named = opweave.ones(2, names=("N",))
    z = opweave.ones(2, dtype=opweave.complex64).conj()
    with profile() as measured, Mode():
        x + 1
        named * 2
        z - z
    assert [name for name, _ in tree(measured.events())] == ["aten::add", "aten::mul", "aten::sub"]
    with profile() as measured, opweave.autocast("cpu"):
        opweave.ones(2, 2) @ opweave.ones(2, 2)
    assert [name for name, _ in tree(measured.events())] == ["aten::ones", "aten::ones", "aten::matmul"]


def test_memory():
    with profile(profile_memory=True) as measured:
        x = opweave.ones(1000)
        y = x.view(10, 100)
    made, viewed = measured.events()
    assert made.cpu_memory_usage >= 4000
    assert viewed.cpu_memory_usage < 4000
    assert y.shape == (10, 100)
    assert "CPU Mem" in measured.key_averages().table()
    assert "KB" in measured.key_averages().table()


def test_table():
    with profile(record_shapes=True, with_stack=True) as measured:
        for n in (2, 3, 3):
            opweave.ones(n).add(1)
        with record_function("a" * 80):
            opweave.zeros(1)
    averages = measured.key_averages()
    lines = averages.table(sort_by="count", row_limit=2).splitlines()
    columns = [title.strip() for title in lines[1].split("  ") if title.strip()]
    assert columns == ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
    assert lines[0] == lines[2] == lines[-2]
    assert set(lines[0]) == {"-", " "}
    assert lines[0].startswith("-" * 55 + "  ")
    assert lines[3].split()[0] == "aten::ones"
    assert lines[3].split()[-1] == "3"
    assert len(lines) == 7
    assert lines[-1].startswith("Self CPU time total: ")
    grouped = measured.key_averages(group_by_input_shape=True)
    assert [(each.count, each.input_shapes) for each in grouped if each.key == "aten::add"] == [
        (1, [[2], [], []]),
        (2, [[3], [], []]),
    ]
    assert "Input Shapes" in grouped.table()
    top = measured.events().table(top_level_events_only=True, header="Mine", max_name_column_width=None)
    assert top.splitlines()[1] == "Mine"
    assert "only display top-level ops" in top
    assert "aten::zeros" not in top
    assert "a" * 80 in top
    assert "a" * 52 + "..." in averages.table()
    assert "us" in averages.table(time_unit="us")
    stacked = measured.key_averages(group_by_stack_n=1)
    assert "test_profiler.py(" in stacked.table()
    assert "Source Location" in stacked.table()
    overloads = measured.key_averages(group_by_overload_name=True)
    assert "Overload Name" in overloads.table()
    assert "Tensor" in overloads.table()
    with pytest.raises(AttributeError, match="nonsense"):
        averages.table(sort_by="nonsense")
    assert str(averages) == averages.table()


def test_schedule():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    short = {ProfilerAction.NONE: "-", ProfilerAction.WARMUP: "w", ProfilerAction.RECORD: "r"}
    assert "".join(short.get(plan(step), "S") for step in range(12)) == "--wrS-wrS---"
    assert schedule(wait=3, warmup=1, active=1, skip_first_wait=1)(0) is ProfilerAction.WARMUP
    for arguments in ({"wait": -1, "warmup": 1, "active": 1}, {"wait": 1, "warmup": 1, "active": 0}):
        with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
            schedule(**arguments)
    with pytest.raises(AssertionError, match="non-negative"):
        plan(-1)
    with pytest.warns(UserWarning, match="warmup"):
        schedule(wait=0, warmup=0, active=1)


@pytest.mark.parametrize("acc_events", [False, True])
def test_steps(acc_events):
    ready = []

    def save(measured):
        ready.append((measured.step_num, names(measured)))

    plan = schedule(wait=1, warmup=1, active=2)
    with profile(schedule=plan, on_trace_ready=save, acc_events=acc_events) as measured:
        for step in range(9):
            opweave.full((1,), step)
            measured.step()
    step = "aten::full"
    first = ["ProfilerStep#2", step, "ProfilerStep#3", step]
    second = ["ProfilerStep#6", step, "ProfilerStep#7", step]
    assert ready == [(4, first), (8, second + first if acc_events else second)]
    assert include(0) == 0


def test_traces(tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path / "traces"), "worker", use_gzip=True)
    with profile(on_trace_ready=handler, record_shapes=True, with_stack=True) as measured:
        measured.add_metadata("run", 'a "name"')
        measured.add_metadata_json("sizes", "[1, 2]")
        opweave.ones(2) + 1
    (path,) = (tmp_path / "traces").iterdir()
    assert path.name.startswith("worker.")
    assert path.name.endswith(".pt.trace.json.gz")
    with gzip.open(path, "rt") as file:
        trace = json.load(file)
    assert trace["run"] == 'a "name"'
    assert trace["sizes"] == [1, 2]
    complete = [each for each in trace["traceEvents"] if each["ph"] == "X"]
    assert [each["name"] for each in complete] == ["aten::ones", "aten::add"]
    assert complete[1]["args"]["Input Dims"] == [[2], [], []]
    assert complete[1]["dur"] > 0
    plain = tmp_path / "plain.json"
    measured.events().export_chrome_trace(plain)
    assert json.loads(plain.read_text()) == complete
    stacks = tmp_path / "stacks.txt"
    measured.export_stacks(str(stacks))
    assert "test_traces" in stacks.read_text()
    with pytest.raises(ValueError, match="metric should be one of"):
        measured.export_stacks(str(stacks), "nonsense")


def test_activities():
    assert supported_activities() == {ProfilerActivity.CPU}
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profile(activities=[])
    with pytest.raises(TypeError, match="Expected ProfilerActivity"):
        profile(activities=["cpu"])
    with pytest.raises(ValueError, match="more than once"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CPU])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    assert [str(each.message) for each in caught] == ["CUDA is not available, disabling CUDA profiling"]


def test_autograd_profiler():
    with autograd_profiler.profile(enabled=False) as off:
        opweave.ones(1)
    with pytest.raises(AssertionError, match="Expected profiling results"):
        off.key_averages()
    with autograd_profiler.profile() as measured:
        assert str(measured) == "<unfinished torch.autograd.profile>"
        autograd_profiler.record_function("labelled")(opweave.ones)(2)
    assert [each.name for each in measured.function_events] == ["labelled", "aten::ones"]
    assert str(measured) == measured.table()
    assert measured.self_cpu_time_total == pytest.approx(measured.function_events[0].cpu_time_total)


def test_a_hook_may_stop_it():
    x = opweave.ones(2, requires_grad=True)
    measured = profile()
    y = x * 2
    y.register_hook(lambda grad: measured.stop())
    measured.start()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert include(0) == 0
    assert all(each.time_range.end >= each.time_range.start for each in measured.events())
    assert not any("AccumulateGrad" in each.name for each in measured.events())


def test_flops():
    """Twice the elements of sums for products, an element each for `add` and `mul`; what is within is counted once."""
    a, b = opweave.ones(4, 5), opweave.ones(5, 6)
    batch = opweave.ones(2, 4, 5), opweave.ones(2, 5, 6)
    with profile(with_flops=True) as measured:
        opweave.mm(a, b)
        opweave.addmm(opweave.ones(4, 6), a, b)
        opweave.bmm(*batch)
        opweave.baddbmm(opweave.ones(2, 4, 6), *batch)
        opweave.conv2d(opweave.ones(1, 2, 6, 6), opweave.ones(4, 2, 3, 3), padding=1, stride=2)
        opweave.conv2d(opweave.ones(1, 4, 6, 6), opweave.ones(4, 2, 3, 3), groups=2)
        opweave.add(a, 1)
        opweave.mul(a, a)
        opweave.exp(a)
    averages = measured.key_averages()
    assert {each.key.removeprefix("aten::"): each.flops for each in averages if each.flops} == {
        "mm": 240, "addmm": 240, "bmm": 480, "baddbmm": 480, "conv2d": 1296 + 2304, "add": 20, "mul": 20,
    }  # fmt: skip
    lines = averages.table(row_limit=-1).splitlines()
    assert lines[1].split("  ")[-2].strip() == "Total FLOPs"
    last = {line.split()[0]: line.split()[-1] for line in lines[3:-2]}
    assert (last["aten::conv2d"], last["aten::exp"]) == ("3600.000", "--")
    assert next(each for each in measured.events() if each.name == "aten::mm").input_shapes == [[4, 5], [5, 6]]
    with profile(with_flops=True) as measured:
        opweave.mm(opweave.ones(40, 50), opweave.ones(50, 60))
    table = measured.key_averages().table()
    assert ("Total KFLOPs" in table, "240.000" in table) == (True, True)
    with profile() as measured:
        opweave.mm(a, b)
    assert "FLOPs" not in measured.key_averages().table()


def test_arguments_of_torch(tmp_path):
    with profile(
        with_flops=True, with_modules=True, experimental_config=None, execution_trace_observer=None,
        custom_trace_id_callback=None, post_processing_timeout_s=None,
    ) as measured:  # fmt: skip
        opweave.ones(2).exp()
    measured.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert (trace["with_flops"], trace["with_modules"], measured.with_modules) == (1, 1, True)
    with autograd_profiler.profile(with_flops=True, use_kineto=True, use_device=None, with_modules=True) as measured:
        opweave.mm(opweave.ones(2, 3), opweave.ones(3, 2))
    assert [each.flops for each in measured.function_events if each.flops] == [24]
    with autograd_profiler.profile(use_cpu=False) as measured:
        opweave.ones(2)
    with pytest.warns(FutureWarning, match="`use_cuda` is deprecated"):
        profile(use_cuda=False)
