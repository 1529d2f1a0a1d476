"""Compiled functions beside those of others: `python benchmarks/compile.py [PATTERN ...]`.

Each piece of work is done by opweave without and with `compile`, and where they are installed by torch without and
with its compiler, by jax.jit and by numexpr: forward, forward and backward, and layers and training steps. They take
turns in one process. Printed are the times of the fastest calls, their ratios to the best of torch.compile, jax and
numexpr (for layers and steps: of torch with and without its compiler), and the geometric means of these. PATTERN
selects rows by a part of their name. Two threads each.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from math import exp, log
from types import SimpleNamespace
from typing import Any

import measure
import opweave
from compiled_work import MODULES, WORK, Work
from figures import THREADS, seconds_text

Calls = dict[str, Callable[[], Any]]

COMPILERS = ("torch.compile", "jax", "numexpr")
TURNS = 8


def optional(name: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


torch, jax, numexpr = map(optional, ("torch", "jax", "numexpr"))


def of_jax() -> Any:
    """The functions of chains, by the names that torch has for them."""
    np, lax, special = jax.numpy, jax.lax, jax.scipy.special
    reductions = {
        name: lambda x, dim=None, keepdims=False, f=function: f(x, axis=dim, keepdims=keepdims)
        for name, function in (("amax", np.max), ("sum", np.sum), ("mean", np.mean))
    }
    elements = ("tanh", "exp", "log", "sqrt", "sin", "cos")
    return SimpleNamespace(
        **{name: getattr(np, name) for name in elements}, **reductions,
        asin=np.arcsin, rsqrt=lax.rsqrt, erf=special.erf, sigmoid=jax.nn.sigmoid, cat=np.concatenate,
    )  # fmt: skip


def libraries() -> dict[str, Any]:
    """opweave, and torch where it is installed."""
    return {"opweave": opweave} | ({} if torch is None else {"torch": torch})


def in_turn(make: Callable[[Any, Callable[..., Any]], Callable[[], Any]]) -> Calls:
    """Calls of each library without and with its compiler. `make` is given the library and the decorator."""
    calls: Calls = {}
    for name, library in libraries().items():
        calls[name] = make(library, lambda function: function)
        calls["compiled" if library is opweave else "torch.compile"] = make(library, library.compile)
    return {name: calls[name] for name in sorted(calls, key=lambda each: each != "compiled")}


def forward(work: Work) -> Calls:
    def make(library: Any, decorate: Callable[..., Any]) -> Callable[[], Any]:
        tensors = [library.from_numpy(each) for each in work.arrays()]
        function = decorate(partial(work.function, library))
        return lambda: function(*tensors)

    calls = in_turn(make)
    arrays = work.arrays()
    if jax is not None:
        names, given = of_jax(), [jax.numpy.asarray(each) for each in arrays]
        jitted = jax.jit(partial(work.function, names))
        calls["jax"] = lambda: jax.block_until_ready(jitted(*given))
    if numexpr is not None and work.formula is not None:
        named = dict(zip("abc", arrays, strict=False))
        calls["numexpr"] = lambda: numexpr.evaluate(work.formula, named)
    return calls


def backward(work: Work) -> Calls:
    def make(library: Any, decorate: Callable[..., Any]) -> Callable[[], Any]:
        tensors = [library.from_numpy(each) for each in work.arrays()]
        wanted = tensors[: work.differentiated]
        for each in wanted:
            each.requires_grad_()
        function = decorate(partial(work.function, library))

        def results() -> tuple[Any, ...]:
            found = function(*tensors)
            return found if isinstance(found, tuple) else (found,)

        gradients = [library.ones_like(each) for each in results()]
        return lambda: library.autograd.grad(results(), wanted, gradients)

    return in_turn(make)


def inference(build: Callable[[Any], tuple[Any, Any, Any]]) -> Calls:
    def make(library: Any, decorate: Callable[..., Any]) -> Callable[[], Any]:
        module, given, _ = build(library)
        compiled = decorate(module.eval())

        def call() -> Any:
            with library.no_grad():
                return compiled(given)

        return call

    return in_turn(make)


def step(build: Callable[[Any], tuple[Any, Any, Any]]) -> Calls:
    """Steps of training, of which all but the optimizer's is compiled."""

    def make(library: Any, decorate: Callable[..., Any]) -> Callable[[], Any]:
        module, given, labels = build(library)
        optimizer = library.optim.SGD(module.parameters(), lr=1e-3)

        def loss(given: Any) -> Any:
            found = module(given)
            return found.square().mean() if labels is None else library.nn.functional.cross_entropy(found, labels)

        compiled = decorate(loss)

        def call() -> None:
            optimizer.zero_grad()
            compiled(given).backward()
            optimizer.step()

        return call

    return in_turn(make)


def rows() -> Iterator[tuple[str, str, Callable[[], Calls], tuple[str, ...]]]:
    """The kind of each row, its name, what makes its calls, and whose best time counts."""
    for work in WORK:
        yield "forward", work.name, lambda work=work: forward(work), COMPILERS
    for work in WORK:
        yield "forward and backward", f"{work.name}, and back", lambda work=work: backward(work), COMPILERS
    for name, build in MODULES.items():
        yield "layers", f"{name}, forward", lambda build=build: inference(build), ("torch", "torch.compile")
        yield "layers", f"{name}, step", lambda build=build: step(build), ("torch", "torch.compile")


def least(calls: Calls) -> dict[str, float]:
    """The seconds of the fastest call of each, which is less disturbed by other work than a mean."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(TURNS):
        for name, call in calls.items():
            time.sleep(measure.IDLE)
            call()
            end = time.perf_counter() + 2 * measure.SLICE
            while (began := time.perf_counter()) < end:
                call()
                found[name] = min(found[name], time.perf_counter() - began)
    return found


def main(patterns: list[str]) -> None:
    """Print a line for each row, and the geometric mean of each kind."""
    opweave.set_num_threads(THREADS)
    if torch is not None:
        torch.set_num_threads(THREADS)
    if numexpr is not None:
        numexpr.set_num_threads(THREADS)
    ratios: dict[str, list[float]] = {}
    for kind, name, make, others in rows():
        if patterns and not any(each in name for each in patterns):
            continue
        if torch is not None:
            torch.compiler.reset()  # it knows functions by their code, which the lambdas share
        best = least(make())
        peers = [best[each] for each in others if each in best]
        text = ", ".join(f"{way} {seconds_text(took)}" for way, took in best.items())
        ratio = f"{best['compiled'] / min(peers):.2f}" if peers else ""
        own = f"{best['compiled'] / best['opweave']:.2f}"
        print(f"{name:35} {own} of itself, {ratio or '-'} of the best  ({text})", flush=True)
        if peers:
            ratios.setdefault(kind, []).append(best["compiled"] / min(peers))
    for kind, found in ratios.items():
        print(f"{kind}: geometric mean {exp(sum(map(log, found)) / len(found)):.2f}, most {max(found):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
