"""Hostile calls of everything public, and of the doors that are not: none may end the process or leave silent garbage.

Arguments are tensors of every layout, finished and not, junk, numbers that fit nowhere, long sequences, and objects
that act while the call reads them: they resize, exchange or free the tensors that stand beside them, raise, or call
back. After each call all tensors must lie within their memory, and no error or mode may be left behind.

Each call follows from its seed, each argument from a seed of its own, so that a failing call can be reduced: arguments
are dropped or replaced by plain ones as long as it still fails.

    python tests/hostile.py COUNT [FIRST]     makes COUNT calls in processes of their own, reports and reduces failures
    python tests/hostile.py --repeat SPEC     makes the one call that a report names
"""

from __future__ import annotations

import faulthandler
import gc
import inspect
import json
import os
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path.append(str(HERE.parent))  # codegen

import fuzzing  # noqa: E402
import numpy as np  # noqa: E402
import opweave  # noqa: E402
from opweave import _handle  # noqa: E402
from opweave._C import lib  # noqa: E402

MODULES = (
    *("", "autograd", "autograd.functional", "autograd.graph", "fft", "func", "linalg", "nn.functional", "optim"),
    *("random", "signal.windows", "special", "utils.checkpoint"),
)
"""Their public functions and classes are called; of classes also the methods."""

LEFT_OUT = frozenset(
    ("set_flush_denormal", "set_default_dtype", "set_printoptions", "set_num_threads", "save", "load", "from_file",
     "set_default_tensor_type", "set_anomaly_enabled", "set_autocast_enabled", "set_autocast_cpu_enabled",
     "set_autocast_dtype", "set_autocast_cpu_dtype")
)  # fmt: skip
"""What changes how everybody else computes or prints, or touches files, and is tested on its own."""

REFUSALS = (
    *(TypeError, ValueError, RuntimeError, IndexError, OverflowError, MemoryError, BufferError, AttributeError),
    *(KeyError, AssertionError, ZeroDivisionError, StopIteration, ImportError),
)
"""Exceptions that a call may end with. What is a NameError, a SystemError or a RecursionError is a mistake of ours."""

LONG = 10_000
SECONDS = 60
"""After which a call is said to hang."""


class RaisedError(Exception):
    """Raised by the arguments themselves."""


# ---- what is called -----------------------------------------------------------------------------------------


@cache
def callables() -> Mapping[str, Callable[..., Any]]:
    """By the path from the package on."""
    results: dict[str, Callable[..., Any]] = {}
    for path in MODULES:
        module = opweave
        for name in filter(None, path.split(".")):
            module = getattr(module, name)
        public = getattr(module, "__all__", None) or [name for name in dir(module) if name[0] != "_"]
        for name in public:
            value = getattr(module, name)
            whole = f"{path}.{name}".lstrip(".")
            if callable(value) and not isinstance(value, types.ModuleType) and name not in LEFT_OUT:
                results[whole] = value
                results.update(_methods(whole, value))
    results |= {
        f"_handle.{name}": value for name, value in vars(_handle).items() if name not in _SETTERS and callable(value)
    }
    return dict(sorted(results.items()))


_SETTERS = {name for name in vars(_handle) if name.startswith(("set_", "exclude", "__"))} - {"set_edge"}
"""Told once, when the package is imported: what the core calls from then on."""

_OF_OBJECT = frozenset(dir(object)) - {"__init__", "__new__", "__eq__", "__ne__", "__lt__"} | {"__class_getitem__"}


def _methods(path: str, kind: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    if not isinstance(kind, type) or issubclass(kind, BaseException):
        return
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        if name in _OF_OBJECT or name in LEFT_OUT:
            continue
        if isinstance(value, property):
            yield f"{path}.{name} (get)", value.__get__
            if value.fset:
                yield f"{path}.{name} (set)", value.fset
        elif isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)):
            yield f"{path}.{name} (get)", value.__get__
            yield f"{path}.{name} (set)", value.__set__
        elif callable(getattr(kind, name)):
            yield f"{path}.{name}", getattr(kind, name)


@cache
def schemas() -> Mapping[str, fuzzing.Entry]:
    """The arguments that operators want, by the same paths; half of all calls are nearly right ones of these."""
    wanted = {id(entry.function): entry for forms in fuzzing.entries().values() for entry in forms}
    return {path: wanted[id(value)] for path, value in callables().items() if id(value) in wanted}


# ---- arguments ----------------------------------------------------------------------------------------------


class Actor:
    """Stands for a number or a short list, and acts when it is asked for it."""

    def __init__(self, random: Random, stage: list[Any]) -> None:
        self.stage = stage
        self.value = random.choice((0, 1, 1, 2, -1, 2**40))
        self.action = random.choice((shrink, grow, exchange, empty, collect, call_back, turn, follow, stop))
        self.random = random

    def act(self) -> int:
        tensors = [each for each in self.stage if isinstance(each, opweave.Tensor)]
        if tensors:
            self.action(self.random.choice(tensors), self.stage)
        return self.value

    def __index__(self) -> int:
        return self.act()

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.act())

    def __complex__(self) -> complex:
        return complex(self.act())

    def __bool__(self) -> bool:
        return bool(self.act())

    def __len__(self) -> int:
        return min(abs(self.act()), 3)

    def __iter__(self) -> Iterator[Any]:
        yield from (self, self.act())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index > 2:
            raise IndexError(index)
        return self.act()

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        return np.full(2, self.act(), np.float64)

    def __eq__(self, other: object) -> bool:
        return bool(self.act())

    def __hash__(self) -> int:
        return hash(self.act())

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.act()
        return arguments[0] if arguments else None

    def __repr__(self) -> str:
        return f"Actor({self.action.__name__}, {self.value})"


def shrink(tensor: Any, stage: list[Any]) -> None:
    tensor.resize_(0)


def grow(tensor: Any, stage: list[Any]) -> None:
    tensor.resize_(70, 3)


def exchange(tensor: Any, stage: list[Any]) -> None:
    tensor.data = opweave.zeros(1, dtype=tensor.dtype)


def empty(tensor: Any, stage: list[Any]) -> None:
    for each in stage:
        if isinstance(each, list):
            each.clear()
    stage.clear()


def collect(tensor: Any, stage: list[Any]) -> None:
    gc.collect()


def call_back(tensor: Any, stage: list[Any]) -> None:
    (tensor + 1).sum()


def turn(tensor: Any, stage: list[Any]) -> None:
    tensor.unsqueeze_(0).t_()


def follow(tensor: Any, stage: list[Any]) -> None:
    tensor.detach_().requires_grad_(tensor.is_floating_point())


def stop(tensor: Any, stage: list[Any]) -> None:
    raise RaisedError("an argument refuses")


class Long:
    """A sequence without a length that ends after a limit, so that a call which reads on ends as well."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, index: int) -> Any:
        if index >= LONG:
            raise IndexError(index)
        return self.value

    def __repr__(self) -> str:
        return f"Long({self.value!r})"


class Kind(opweave.Tensor):
    """A subclass."""


def random_tensor(random: Random) -> Any:
    dtype = random.choice(fuzzing.DTYPE_NAMES)
    tensor = fuzzing.random_tensor(random, fuzzing.random_shape(random), dtype)
    choice = random.random()
    if choice < 0.05:
        return opweave.Tensor.__new__(random.choice((opweave.Tensor, Kind)))
    if choice < 0.1:
        return tensor.as_subclass(Kind)
    if choice < 0.2 and tensor.is_floating_point():
        return tensor.requires_grad_()
    if choice < 0.25:
        with opweave.inference_mode():
            return tensor.clone()
    if choice < 0.3:
        return opweave.from_numpy(np.arange(6.0).reshape(2, 3))
    if random.random() < 0.1:
        tensor = tensor.conj()
    return tensor.to("meta") if random.random() < 0.1 else tensor


def random_argument(random: Random, stage: list[Any], depth: int = 0) -> Any:
    """`stage`: the arguments before it, which an actor acts on."""
    choice = random.random()
    if choice < 0.45:
        return random_tensor(random)
    if choice < 0.5 and stage:
        return random.choice(stage)
    if choice < 0.62:
        return random.randint(-4, 4)
    if choice < 0.7:
        return random.choice(fuzzing.NUMBERS)
    if choice < 0.76:
        return random.choice(fuzzing.JUNK)
    if choice < 0.84:
        return Actor(random, stage)
    if choice < 0.95 and depth < 3:
        results = [random_argument(random, stage, depth + 1) for _ in range(random.choice((0, 1, 2, 2, 3)))]
        return random.choice((list, tuple))(results)
    if choice < 0.97:
        return Long(random.choice((0, 1, 1.5, None, opweave.ones(1))))
    words = ("", "mean", "sum", "none", "ij,jk", "constant", "cpu", "meta", "\0", "float32", "𝔘" * 3)
    return random.choice((*words, opweave.device("cpu"), opweave.Size([2]), opweave.default_generator, Kind))


def nearly_right(random: Random, kind: str, shape: tuple[int, ...], dtype: str, stage: list[Any]) -> Any:
    """An argument of the type that a schema wants, often one that acts in its place."""
    choice = random.random()
    if choice < 0.06:
        return random_argument(random, stage)
    if not kind.startswith("Tensor") and choice < 0.25:
        actor = Actor(random, stage)
        return [actor] * random.choice((1, 2, 3)) if kind.rstrip("?").endswith("]") and choice < 0.2 else actor
    if kind.startswith("Tensor") and "[" in kind:
        return [nearly_right(random, "Tensor", shape, dtype, stage) for _ in range(random.choice((0, 1, 2, 3)))]
    if kind.startswith("Tensor") and stage and choice < 0.12:
        return random.choice(stage)
    return fuzzing.random_argument(random, kind, shape, dtype)


PLAIN: Mapping[str, Callable[[], Any]] = {
    "ones": lambda: opweave.ones(2, 3),
    "one": lambda: 1,
    "none": lambda: None,
    "list": lambda: [0, 1],
    "float": lambda: 0.5,
}
"""What reducing a call puts in place of an argument."""


# ---- calls --------------------------------------------------------------------------------------------------

# {"name": path, "arguments": [recipes], "keywords": {name: recipe}}; a recipe is the seed of an argument, with the
# type, the shape and the dtype that are wanted where these are known, a key of PLAIN, or "argument N", that one again.
Spec = dict[str, Any]


@cache
def _keywords(name: str) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(callables()[name]).parameters
    except (ValueError, TypeError):
        return ()
    return tuple(each.name for each in parameters.values() if each.kind is not each.VAR_POSITIONAL)


def spec_of(seed: int) -> Spec:
    random = Random(seed)
    entry = None
    if random.random() < 0.5:
        name = random.choice([*schemas()])
        entry = schemas()[name]
        shape, dtype = fuzzing.random_shape(random), random.choice(fuzzing.DTYPE_NAMES)
        arguments: list[Any] = [[random.getrandbits(48), kind, shape, dtype] for kind in entry.types]
        keywords: dict[str, Any] = {}
        for keyword, kind in entry.keywords.items():
            if random.random() < 0.1:
                keywords[keyword] = [random.getrandbits(48), kind, shape, dtype]
        if entry.has_out and random.random() < 0.3:
            keywords["out"] = [random.getrandbits(48), "Tensor", shape, dtype]
    else:
        name = random.choice([*callables()])
        arguments = [random.getrandbits(48) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5)))]
        keywords = {each: random.getrandbits(48) for each in _keywords(name) if random.random() < 0.06}
    if "out" in keywords and arguments and random.random() < 0.5:
        keywords["out"] = f"argument {random.randrange(len(arguments))}"
    return {"name": name, "arguments": arguments, "keywords": keywords}


def made(recipe: Any, stage: list[Any]) -> Any:
    if isinstance(recipe, int):
        return random_argument(Random(recipe), stage)
    if not isinstance(recipe, str):
        seed, kind, shape, dtype = recipe
        return nearly_right(Random(seed), kind, tuple(shape), dtype, stage)
    if recipe in PLAIN:
        return PLAIN[recipe]()
    index = int(recipe.split()[1])
    return stage[index] if index < len(stage) else None


def call(spec: Spec) -> str | None:
    """Makes the call; what is wrong afterwards, or None."""
    function = callables()[spec["name"]]
    stage: list[Any] = []
    for recipe in spec["arguments"]:
        stage.append(made(recipe, stage))
    arguments = [*stage]
    keywords = {name: made(recipe, stage) for name, recipe in spec["keywords"].items()}
    stage += keywords.values()
    excluded = _handle.excluded()
    result = None
    try:
        result = function(*arguments, **keywords)
        if isinstance(result, types.GeneratorType):
            result = [each for each, _ in zip(result, range(100), strict=False)]
    except (*REFUSALS, RaisedError):
        pass
    except Exception as error:  # one that no caller would expect
        return f"{type(error).__name__}: {error}"
    if lib.error_pending():
        return "an error of the core is pending"
    if _handle.excluded() != excluded:
        return "the thread's modes have changed"
    for each in (*arguments, *keywords.values(), *(result if isinstance(result, (tuple, list)) else (result,))):
        wrong = what_is_wrong(each)
        if wrong:
            return wrong
    return None


def what_is_wrong(value: Any) -> str | None:
    """Of a tensor whose elements do not lie in its memory; those that do are read."""
    if not isinstance(value, opweave.Tensor):
        return None
    try:
        memory = value.untyped_storage().nbytes()
    except (AttributeError, RuntimeError):
        return None  # it is not finished
    reach = value.storage_offset() + sum(
        (size - 1) * step for size, step in zip(value.shape, value.stride(), strict=True) if step > 0
    )
    lowest = value.storage_offset() + sum(
        (size - 1) * step for size, step in zip(value.shape, value.stride(), strict=True) if step < 0
    )
    if value.numel() and not 0 <= lowest <= reach < max(memory // value.element_size(), 1):
        return f"elements {lowest} to {reach} of {memory} bytes: {value.dtype} {tuple(value.shape)} {value.stride()}"
    if value.numel() <= 10**5:
        value.detach().clone()
    return None


def run(specs: Iterator[Spec], note: Callable[[Spec], None], report: Callable[[Spec, str], None]) -> None:
    """Makes calls; `note` hears of each before it is made, `report` of what is wrong after one."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for number, spec in enumerate(specs):
        if number % 50 == 0:
            faulthandler.dump_traceback_later(SECONDS, exit=True)
        note(spec)
        wrong = call(spec)
        if wrong:
            report(spec, wrong)
    faulthandler.cancel_dump_traceback_later()


# ---- processes ----------------------------------------------------------------------------------------------


def _worker(first: int, count: int, path: str) -> None:
    """Makes the calls of these seeds; what it did last stands in the file `path`, what failed on standard output."""
    with open(path, "r+b", buffering=0) as last:

        def note(spec: Spec) -> None:
            os.pwrite(last.fileno(), f"{spec['seed']:<20}".encode(), 0)

        seeded = ({"seed": seed, **spec_of(seed)} for seed in range(first, first + count))
        run(seeded, note, lambda spec, wrong: print(json.dumps([spec, wrong]), flush=True))


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{HERE}:{HERE.parent}", "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(HERE / "hostile.py"), *arguments]
    return subprocess.run(
        command, cwd=tempfile.gettempdir(), env=environment, capture_output=True, text=True, check=False
    )


def failures(first: int, count: int) -> Iterator[tuple[Spec, str]]:
    """The calls that fail among those of the seeds, and how; a call that ends its process does not end the search."""
    end = first + count
    while first < end:
        with tempfile.NamedTemporaryFile() as last:
            done = _python("--worker", str(first), str(end - first), last.name)
            seed = int(last.read() or first)
        for line in done.stdout.splitlines():
            spec, wrong = json.loads(line)
            yield spec, wrong
        if done.returncode == 0:
            return
        yield {"seed": seed, **spec_of(seed)}, f"ended with {done.returncode}: {done.stderr[-1500:]}"
        first = seed + 1


def repeat(spec: Spec) -> str | None:
    """What is wrong after the call in a process of its own."""
    done = _python("--repeat", json.dumps(spec))
    if done.returncode:
        return f"ended with {done.returncode}: {done.stderr[-1500:]}"
    return done.stdout.strip() or None


def reduced(spec: Spec) -> Spec:
    """A call with fewer or plainer arguments that fails as well; the call itself where none does."""
    if not repeat(spec):
        return spec  # it needs the calls before it
    for smaller in _smaller(spec):
        if repeat(smaller):
            return reduced(smaller)
    return spec


def _smaller(spec: Spec) -> Iterator[Spec]:
    arguments, keywords = spec["arguments"], spec["keywords"]
    for name in keywords:
        yield spec | {"keywords": {other: keywords[other] for other in keywords if other != name}}
    if arguments:
        yield spec | {"arguments": arguments[:-1]}
    for index, recipe in enumerate(arguments):
        if not isinstance(recipe, str):
            for plain in PLAIN:
                yield spec | {"arguments": [*arguments[:index], plain, *arguments[index + 1 :]]}


def described(spec: Spec) -> str:
    """The call as somebody would write it; what is behind an argument's seed is shown by its class and value."""
    stage: list[Any] = []
    for recipe in spec["arguments"]:
        stage.append(made(recipe, stage))
    texts = [fuzzing.describe(each) if _is_finished(each) else "<unfinished>" for each in stage]
    texts += [f"{name}={made(recipe, stage)!r}" for name, recipe in spec["keywords"].items()]
    return f"{spec['name']}({', '.join(texts)})"


def _is_finished(value: Any) -> bool:
    return not isinstance(value, opweave.Tensor) or hasattr(value, "_h")


def main(arguments: list[str]) -> int:
    if arguments[0] == "--worker":
        _worker(int(arguments[1]), int(arguments[2]), arguments[3])
        return 0
    if arguments[0] == "--repeat":
        run(iter([json.loads(arguments[1])]), lambda spec: None, lambda spec, wrong: print(wrong))
        return 0
    count, first = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
    result = 0
    for spec, wrong in failures(first, count):
        result += 1
        smallest = reduced(spec)
        print(f"---- seed {spec['seed']}\n{wrong}\n{json.dumps(smallest)}\n{described(smallest)}", flush=True)
    print(f"{count} calls, {result} failed")
    return 1 if result else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
