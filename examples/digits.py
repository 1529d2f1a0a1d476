"""Trains a network of two layers to read handwritten digits, and draws how it learns.

    python examples/digits.py                    # with opweave
    python examples/digits.py --backend torch    # the same program with PyTorch, if that is installed

The 1797 pictures of 8 × 8 pixels come with scikit-learn. Both libraries draw the same random numbers, so they begin
with the same weights, see the pictures in the same order, and their losses differ by rounding errors only. Needs
`pip install 'opweave[examples]'`.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

BATCH, HIDDEN, CLASSES = 64, 256, 10
TRAINED_ON = 1437
"""Pictures; the other 360 test what was learned."""


@dataclass
class Curves:
    """The record of the training: a loss for each batch, accuracies (from 0 to 1) after each epoch."""

    losses: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)


class Network:
    """Two layers, with a rectifier between them."""

    def __init__(self, library: ModuleType, inputs: int) -> None:
        self.library = library
        self.weight1 = (library.randn(inputs, HIDDEN) * (2 / inputs) ** 0.5).requires_grad_()
        self.bias1 = library.zeros(HIDDEN).requires_grad_()
        self.weight2 = (library.randn(HIDDEN, CLASSES) * (1 / HIDDEN) ** 0.5).requires_grad_()
        self.bias2 = library.zeros(CLASSES).requires_grad_()

    def parameters(self) -> list[Any]:
        return [self.weight1, self.bias1, self.weight2, self.bias2]

    def __call__(self, pictures: Any) -> Any:
        """The scores of each class."""
        return (pictures @ self.weight1 + self.bias1).relu() @ self.weight2 + self.bias2

    def loss(self, pictures: Any, labels: Any) -> Any:
        """Mean cross-entropy."""
        logarithms = self.library.log_softmax(self(pictures), dim=1)
        return -logarithms.gather(1, labels.unsqueeze(1)).mean()

    def accuracy(self, pictures: Any, labels: Any) -> float:
        with self.library.no_grad():
            return float((self(pictures).argmax(dim=1) == labels).float().mean())


def digits(library: ModuleType) -> tuple[Any, Any]:
    """The pictures, a row of 64 numbers from 0 to 1 each, and their labels, in a random order."""
    found = importlib.import_module("sklearn.datasets").load_digits()
    order = library.randperm(len(found.target))
    pictures, labels = library.tensor(found.data.tolist()) / 16, library.tensor(found.target.tolist())
    return pictures[order], labels[order]


def train(library: ModuleType, epochs: int, seed: int, progress: Progress | None = None) -> Curves:
    """Adam with decoupled weight decay; the learning rate rises and falls in one cycle."""
    library.manual_seed(seed)
    pictures, labels = digits(library)
    train_set = pictures[:TRAINED_ON], labels[:TRAINED_ON]
    test_set = pictures[TRAINED_ON:], labels[TRAINED_ON:]
    network = Network(library, pictures.shape[1])
    batches = -(-TRAINED_ON // BATCH)
    optimizer = library.optim.AdamW(network.parameters(), weight_decay=0.01)
    schedule = library.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, total_steps=epochs * batches)
    curves = Curves()
    task = None if progress is None else progress.add_task("training", total=epochs * batches, loss="", accuracy="")
    for _ in range(epochs):
        for chosen in library.randperm(TRAINED_ON).split(BATCH):
            loss = network.loss(train_set[0][chosen], train_set[1][chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            curves.losses.append(loss.item())
            if progress is not None and task is not None:
                progress.update(task, advance=1, loss=f"loss {curves.losses[-1]:.4f}")
        curves.train_accuracy.append(network.accuracy(*train_set))
        curves.test_accuracy.append(network.accuracy(*test_set))
        if progress is not None and task is not None:
            progress.update(task, accuracy=f"test accuracy {curves.test_accuracy[-1]:.2%}")
    return curves


def draw(curves: Curves, title: str, path: Path) -> None:
    """The learning curves as a picture: the loss of each batch, and the accuracies after each epoch."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    figure, (left, right) = importlib.import_module("matplotlib.pyplot").subplots(1, 2, figsize=(11, 4))
    left.semilogy(curves.losses, linewidth=0.8)
    left.set(xlabel="batch", ylabel="cross-entropy", title=title)
    epochs = range(1, len(curves.test_accuracy) + 1)
    right.plot(epochs, curves.train_accuracy, label="training pictures")
    right.plot(epochs, curves.test_accuracy, label="test pictures")
    right.set(xlabel="epoch", ylabel="accuracy", ylim=(0.8, 1.005), title=f"{curves.test_accuracy[-1]:.2%} at the end")
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> Curves:
    parser = argparse.ArgumentParser(description="Trains a network to read handwritten digits.")
    parser.add_argument("--backend", choices=["opweave", "torch"], default="opweave", help="the library (opweave)")
    parser.add_argument("--epochs", type=int, default=30, help="how often each picture is seen (30)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--out", type=Path, default=Path("opweave-digits"), help="folder to write to (opweave-digits)")
    given = parser.parse_args(arguments)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("{task.fields[loss]}"), TextColumn("{task.fields[accuracy]}"))  # fmt: skip
    console = Console()
    with Progress(*columns, console=console) as progress:
        curves = train(importlib.import_module(given.backend), given.epochs, given.seed, progress)
    given.out.mkdir(parents=True, exist_ok=True)
    picture = given.out / f"digits-{given.backend}.png"
    draw(curves, f"{given.backend}, {given.epochs} epochs", picture)
    (given.out / f"digits-{given.backend}.json").write_text(json.dumps(asdict(curves)), encoding="utf-8")
    console.print(f"test accuracy {curves.test_accuracy[-1]:.2%}; learning curves in {picture}", soft_wrap=True)
    return curves


if __name__ == "__main__":
    main()
