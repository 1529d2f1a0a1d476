"""What is recorded of programs, and what their code looks like: as torch.fx prints it, but for the package's name."""

# Annotations are not postponed: they are in the code that is printed.
import copy
import inspect
import math
import operator
import pickle
import threading

import opweave as ow
import pytest
from opweave import _assert, fx, nn
from opweave.nn import functional


def body(module):
    return [line.strip() for line in module.code.strip().splitlines()[1:]]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)
        self.bias = nn.Parameter(ow.ones(3))
        self.parts = nn.Sequential(nn.ReLU(), nn.Linear(3, 3))
        self.register_buffer("scale", ow.tensor([1.0, 2.0, 3.0]))

    def forward(self, x, y=2, *, z: int = 3):
        q = x.view(x.size(0), -1)
        a = self.layer(q) + self.bias
        h = functional.relu(a, inplace=True)
        u = h[:, 0:2]
        v = h.shape[0]
        w = ow.cat([h, a], dim=-1) * -2 + float("inf")
        k = -(1 - w.sum(dim=-1, keepdim=True).mean().to(ow.float64))
        return {"a": self.parts(a), "k": (k, h, y, z, u, v)}


MODEL_CODE = """


def forward(self, x, y = 2, z : int = 3):
    size = x.size(0)
    view = x.view(size, -1);  x = size = None
    layer = self.layer(view);  view = None
    bias = self.bias
    add = layer + bias;  layer = bias = None
    relu = opweave.relu(add, inplace = True)
    getitem = relu[(slice(None, None, None), slice(0, 2, None))]
    getattr_1 = relu.shape
    getitem_1 = getattr_1[0];  getattr_1 = None
    cat = opweave.cat([relu, add], dim = -1)
    mul = cat * -2;  cat = None
    add_1 = mul + inf;  mul = None
    sum_1 = add_1.sum(dim = -1, keepdim = True);  add_1 = None
    mean = sum_1.mean();  sum_1 = None
    to = mean.to(opweave.float64);  mean = None
    sub = 1 - to;  to = None
    neg = -sub;  sub = None
    parts_0 = getattr(self.parts, "0")(add);  add = None
    parts_1 = getattr(self.parts, "1")(parts_0);  parts_0 = None
    return {'a': parts_1, 'k': (neg, relu, y, z, getitem, getitem_1)}
    """


def test_code_of_a_module_is_what_it_does():
    model = Model()
    module = fx.symbolic_trace(model)
    assert module.code == MODEL_CODE
    assert str(inspect.signature(module.forward)) == "(x, y=2, z: int = 3)"
    assert inspect.getsource(module.forward).startswith("def forward(self, x, y = 2")
    x = ow.randn(4, 2)
    got, wanted = module(x, z=5), model(x, z=5)
    assert ow.equal(got["a"], wanted["a"])
    assert got["k"][2:4] == (2, 5)
    assert got["k"][5] == 4
    assert repr(module).startswith("Model(\n  (layer): Linear(")
    assert dict(module.named_parameters()).keys() == dict(model.named_parameters()).keys()


def test_copies_and_files_keep_the_graph():
    module = fx.symbolic_trace(Model())
    x = ow.randn(4, 2)
    for made in (copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module))):
        assert type(made).__name__ == "Model"
        assert made.code == module.code
        assert ow.equal(made(x)["a"], module(x)["a"])
        made.graph.lint()
        assert made.graph.owning_module is made
    deep = copy.deepcopy(module)
    with ow.no_grad():
        deep.layer.weight.zero_()
    assert module.layer.weight.any()


def test_a_long_graph_is_copied_and_written():
    def long(x):
        for _ in range(3000):
            x = x + 1
        return x

    module = fx.symbolic_trace(long)
    for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert made(ow.zeros(1)).item() == 3000


@fx.wrap
def looped(x, count):
    return sum(x[place] for place in range(int(count)))


fx.wrap("len")


def test_what_is_recorded_as_a_call():
    def program(x):
        return (
            looped(x, 2)
            + len(x)
            + math.sqrt(x.shape[0])
            + functional.softmax(x, dim=0).sum()
            + functional.interpolate(x[None, None], scale_factor=2).sum()
        )

    module = fx.symbolic_trace(program)
    targets = [node.target for node in module.graph.nodes if node.op == "call_function" and node.target is not getattr]
    assert looped in targets
    assert len in targets
    assert math.sqrt in targets
    assert functional.softmax in targets
    assert functional.interpolate in targets
    assert math.sqrt is vars(math)["sqrt"]
    assert not hasattr(functional.interpolate, "_recorded")
    names = [node.name for node in module.graph.nodes]
    assert {"looped", "len_1", "sqrt", "softmax", "interpolate"} <= set(names)
    x = ow.arange(4.0)
    assert module(x).item() == pytest.approx(program(x).item())


def test_assertions_are_calls():
    def program(x):
        height = x.shape[0]
        _assert(height == 2, f"{height}")
        return x

    module = fx.symbolic_trace(program)
    assert not module.graph.eliminate_dead_code()
    assert module(ow.ones(2)) is not None
    with pytest.raises(AssertionError):
        module(ow.ones(3))


def test_functions_found_before_tracing_record_themselves():
    functions = [ow.cat, ow.Tensor.relu, ow.Tensor.add_]

    def program(x):
        return functions[2](functions[1](functions[0]([x, x], dim=0)), 1)

    module = fx.symbolic_trace(program)
    assert body(module)[:3] == [
        "cat = opweave.cat([x, x]);  x = None",
        "relu = opweave.relu(cat);  cat = None",
        "add_ = opweave.add_(relu, 1);  relu = None",
    ]
    assert ow.equal(module(ow.tensor([-1.0, 2.0])), ow.tensor([1.0, 3.0, 1.0, 3.0]))


def test_methods_of_tensors_with_traced_arguments():
    table, before = ow.arange(12.0).view(4, 3), [getattr(ow.Tensor, name) for name in ("__getitem__", "to")]

    def program(x):
        rows = x.shape[0]
        return (
            table.view(rows, -1),
            table[:, :rows],
            table[x],
            table.to(x.device),
            table.expand(rows, -1, -1),
            table + x,
        )

    module = fx.symbolic_trace(program)
    x = ow.tensor([1, 0, 2])
    assert all(ow.equal(got, wanted) for got, wanted in zip(module(x), program(x), strict=True))
    assert [getattr(ow.Tensor, name) for name in ("__getitem__", "to")] == before


def test_stars_defaults_and_unpacking():
    def program(first, /, *args, **named):
        a, b = first
        return a + b * args[0] - named["by"]

    module = fx.symbolic_trace(program)
    assert module.code.strip().splitlines()[0] == "def forward(self, first, *args, **named):"
    assert module((1, 2), 3, by=4) == 3

    def power(x):
        return (-2) ** x, x**-2, 2.5j * x, x if x is None else ~x

    assert fx.symbolic_trace(power)(3) == power(3)


def test_constants_of_a_program():
    shared = ow.ones(2)

    class Program(nn.Module):
        def __init__(self):
            super().__init__()
            self.shared = shared

        def forward(self, x: ow.Tensor) -> ow.Tensor:
            y = (x + ow.tensor([1.0, 2.0])) * self.shared.to(dtype=ow.float32, device=ow.device("cpu"))
            return y + x.new_zeros(ow.Size([2]))

    module = fx.symbolic_trace(Program())
    assert module.code.strip().splitlines()[0] == "def forward(self, x : opweave.Tensor) -> opweave.Tensor:"
    assert [n.target for n in module.graph.find_nodes(op="get_attr")] == ["_tensor_constant0", "shared"]
    assert ow.equal(module(ow.zeros(2)), ow.tensor([1.0, 2.0]))


def test_concrete_arguments():
    def program(x, flag, pair=None):
        y = x + 1 if flag else x - 1
        return y if pair is None else y * pair["scale"] + pair["shift"]

    module = fx.symbolic_trace(program, concrete_args={"flag": True, "pair": None})
    assert module(1, True) == 2
    with pytest.raises(
        AssertionError, match="flag has been specialized to have value True but got another value: False"
    ):
        module(1, False)
    module = fx.symbolic_trace(program, {"flag": False, "pair": {"scale": fx.PH, "shift": 5}})
    assert module(3, False, {"scale": 10, "shift": 0}) == 25
    with pytest.raises(RuntimeError, match="concrete_args has"):
        fx.symbolic_trace(program, {"flags": True})


def test_what_cannot_be_recorded():
    cases = {
        "condition": (lambda x: 1 if x > 0 else 2, fx.proxy.TraceError, "cannot be used as inputs to control flow"),
        "loop": (lambda x: list(x), fx.proxy.TraceError, "Proxy object cannot be iterated"),
        "membership": (lambda x: 1 in x, fx.proxy.TraceError, "Proxy object cannot be iterated"),
        "number": (lambda x: int(x), TypeError, "int"),
        "range": (lambda x: range(x), TypeError, "integer"),
        "argument": (lambda x: x + object(), NotImplementedError, "argument of type"),
        "key": (lambda x: x.get({x: 1}), RuntimeError, "Keys for dictionaries"),
        "parameter": (lambda x: x + nn.Parameter(ow.ones(1)), NameError, "parameter is not a member"),
        "module": (lambda x: nn.ReLU()(x), NameError, "module is not installed as a submodule"),
    }
    failed = []
    for name, (program, kind, text) in cases.items():
        try:
            fx.symbolic_trace(program)
            failed.append((name, "no error"))
        except kind as error:
            if text not in str(error):
                failed.append((name, str(error)))
    assert not failed
    with pytest.raises(RuntimeError, match="Unsupported type"):
        fx.wrap(3)
    with pytest.raises(NotImplementedError, match="top level of a module"):
        fx.wrap("max")
    assert nn.Module.__call__.__qualname__ == "Calls.__call__"
    assert not hasattr(ow.relu, "_recorded")


def test_tracers_of_users():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            return self.inner(x).relu() + self.inner.weight.shape[0]

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.again = Block()

        def forward(self, x):
            return self.again(self.block(x))

    class Leaves(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return module_qualified_name == "block" or super().is_leaf_module(m, module_qualified_name)

        def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):
            return super().create_proxy(kind, target, args, kwargs, name, type_expr)

    model = Outer()
    tracer = Leaves(param_shapes_constant=False)
    graph = tracer.trace(model)
    calls = [(n.name, n.target) for n in graph.nodes if n.op == "call_module"]
    assert calls == [("block", "block"), ("again_inner", "again.inner")]
    assert tracer.node_name_to_scope["relu"] == ("again", Block)
    module = fx.GraphModule(tracer.root, graph, "Traced")
    x = ow.randn(3, 2)
    assert ow.equal(module(x), model(x))
    assert "getattr" not in str(fx.Tracer(param_shapes_constant=True).trace(model))
    with pytest.raises(NameError):
        tracer.path_of_module(nn.ReLU())


def test_stack_traces_lead_to_the_user():
    class Keeping(fx.Tracer):
        record_stack_traces = True

    graph = Keeping().trace(lambda x: x * 2)
    assert "return Keeping" not in graph.find_nodes(op="call_function", target=operator.mul)[0].stack_trace
    assert "lambda x: x * 2" in graph.find_nodes(op="call_function", target=operator.mul)[0].stack_trace


def test_other_threads_compute_while_a_program_is_traced():
    layer, results = nn.Linear(2, 2), []

    def program(x):
        thread = threading.Thread(target=lambda: results.append(functional.relu(layer(ow.ones(2)))))
        thread.start()
        thread.join()
        return x + 1

    assert fx.symbolic_trace(program)(1) == 2
    assert isinstance(results[0], ow.Tensor)


def test_parameter_names_that_hide_others():
    def program(input, sum, len):
        return input + sum * len

    module = fx.symbolic_trace(program)
    assert body(module)[:3] == ["input_1 = input", "sum_1 = sum", "len_1 = len"]
    assert module(1, 2, 3) == 7
