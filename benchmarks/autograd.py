"""Forward and backward passes beside torch's: chains of small and large operators, a perceptron, a regression.

    python benchmarks/autograd.py [PATTERN]

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import measure
import opweave
from figures import Libraries, show, torch


def chain(T: Any, count: int, size: int) -> Callable[[], Any]:
    """`count` elementwise operators, one after the other, and the gradient by their input."""
    x = T.full((size,), 0.5, requires_grad=True)

    def step() -> None:
        x.grad = None
        y = x
        for _ in range(count // 4):
            y = ((y * 1.01).sin() + 0.1).tanh()
        y.sum().backward()

    return step


def perceptron(T: Any, batch: int) -> Callable[[], Any]:
    """784-256-10 with a cross entropy."""
    T.manual_seed(0)
    x, target = T.randn(batch, 784), T.randint(0, 10, (batch,))
    w1, b1 = (T.randn(784, 256) * 0.05).requires_grad_(), T.zeros(256, requires_grad=True)
    w2, b2 = (T.randn(256, 10) * 0.05).requires_grad_(), T.zeros(10, requires_grad=True)
    places = T.arange(batch)

    def step() -> None:
        for parameter in (w1, b1, w2, b2):
            parameter.grad = None
        hidden = T.addmm(b1, x, w1).relu()
        scores = T.addmm(b2, hidden, w2).log_softmax(1)
        (-scores[places, target].mean()).backward()

    return step


def regression(T: Any, steps: int) -> Callable[[], Any]:
    """Logistic regression of 1000 points in 20 dimensions by gradient descent."""
    T.manual_seed(0)
    x = T.randn(1000, 20)
    y = (x[:, 0] > 0).float()

    def run() -> None:
        w = T.zeros(20, requires_grad=True)
        for _ in range(steps):
            p = (x @ w).sigmoid()
            loss = -(y * (p + 1e-6).log() + (1 - y) * (1 - p + 1e-6).log()).mean()
            loss.backward()
            with T.no_grad():
                w -= 0.1 * w.grad
            w.grad = None

    return run


def saved_bytes(T: Any, layers: int) -> int:
    """Return the bytes of all tensors that a forward pass of a perceptron keeps for the backward pass."""
    weights = [(T.randn(256, 256) * 0.05).requires_grad_() for _ in range(layers)]
    biases = [T.zeros(256, requires_grad=True) for _ in range(layers)]
    places, found = T.arange(128), {}

    def note(tensor: Any) -> Any:
        found[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with T.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        hidden = T.randn(128, 256)
        for weight, bias in zip(weights, biases, strict=True):
            hidden = T.addmm(bias, hidden, weight).relu()
        hidden.log_softmax(1)[places, places].mean()
    return sum(found.values())


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    works: tuple[tuple[str, Callable[[Any], Callable[[], Any]], float], ...] = (
        ("100 operators on 4 elements", lambda T: chain(T, 100, 4), 0.7),
        ("12 operators on 1e6 elements", lambda T: chain(T, 12, 10**6), 0.6),
        ("perceptron 784-256-10, batch 128", lambda T: perceptron(T, 128), 0.9),
        ("logistic regression, 50 steps", lambda T: regression(T, 50), 0.6),
    )
    for work, make, limit in works:
        yield from lib.run(f"{work}, forward and backward", make, None, limit)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))
    own = saved_bytes(opweave, 20)
    print(f"saved by a perceptron of 20 layers: {own:,} bytes", end="")
    print(f", by torch's {saved_bytes(torch, 20):,} (to reach: as many)" if torch else "")


if __name__ == "__main__":
    main()
