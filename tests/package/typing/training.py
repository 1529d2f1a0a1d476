"""A program of a user that trains: tensors, modules, data, optimizers, gradients of its own, files, distributions.

Type checkers find no mistake in it in their strict modes. The tests run it as well.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import opweave
from opweave import Tensor, autograd, nn, optim
from opweave.distributions import Categorical, Distribution, Normal, kl_divergence
from opweave.nn import functional as F  # noqa: N812
from opweave.optim.lr_scheduler import CosineAnnealingLR, StepLR
from opweave.utils.data import DataLoader, Dataset, TensorDataset, random_split

Pair = tuple[Tensor, Tensor]


class Waves(Dataset[Pair]):
    """Sines of two frequencies, and which one each is."""

    def __init__(self, count: int, length: int, generator: opweave.Generator | None = None) -> None:
        self.labels = opweave.randint(0, 2, (count,), generator=generator)
        time = opweave.linspace(0, 6.28, length)
        phases = opweave.rand(count, 1, generator=generator)
        self.waves = opweave.sin(time * (1 + 2 * self.labels.unsqueeze(1)) + phases)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Pair:
        return self.waves[index], self.labels[index]


class Step(autograd.Function):
    """The sign, with the gradient of the identity where numbers are small."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        inside: Tensor = x.abs() <= 1
        return grad * inside


class Block(nn.Module):
    scale: Tensor

    def __init__(self, size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)
        self.weight = nn.Parameter(opweave.zeros(size))
        self.register_buffer("scale", opweave.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.dropout(F.gelu(self.linear(self.norm(x))))
        return x + self.weight * hidden * self.scale


class Model(nn.Module):
    def __init__(self, length: int, size: int, classes: int, depth: int = 2) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(length, size), nn.ReLU())
        self.blocks = nn.ModuleList([Block(size) for _ in range(depth)])
        self.heads = nn.ModuleDict({"class": nn.Linear(size, classes), "mean": nn.Linear(size, 1)})
        self.apply(self._start)

    @staticmethod
    def _start(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Pair:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.heads["class"](x), self.heads["mean"](x).squeeze(-1)


def loss_of(model: Model, waves: Tensor, labels: Tensor) -> Tensor:
    scores, means = model(waves)
    loss = F.cross_entropy(scores, labels) + 0.1 * F.mse_loss(means, waves.mean(dim=-1))
    assert loss.dtype is opweave.float32
    return loss


def train(model: Model, loader: DataLoader[Pair], epochs: int) -> list[float]:
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
    schedule = CosineAnnealingLR(optimizer, T_max=epochs)
    losses: list[float] = []
    model.train()
    for _ in range(epochs):
        total = 0.0
        for waves, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model, waves, labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            total += float(loss.detach())
        schedule.step()
        losses.append(total)
    return losses


@opweave.no_grad()
def accuracy(model: Model, loader: DataLoader[Pair]) -> float:
    model.eval()
    right, count = 0, 0
    for waves, labels in loader:
        scores, _ = model(waves)
        right += int((scores.argmax(dim=1) == labels).sum())
        count += labels.numel()
    return right / count


def gradients() -> tuple[Tensor, ...]:
    x = opweave.tensor([0.5, -2.0], requires_grad=True)
    y: Tensor = Step.apply(x)
    first = autograd.grad(y.sum(), [x], create_graph=False)
    z = (x**3).sum()
    (second,) = autograd.grad(z, x, create_graph=True)
    second.sum().backward()
    assert x.grad is not None
    return (*first, x.grad)


def files(model: nn.Module, optimizer: optim.Optimizer, folder: Path) -> dict[str, Any]:
    path = folder / "checkpoint.pt"
    opweave.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    checkpoint: dict[str, Any] = opweave.load(path, weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint


def distributions(mean: Tensor) -> Tensor:
    normal: Distribution = Normal(mean, opweave.ones_like(mean))
    other = Normal(opweave.zeros(2), 2 * opweave.ones(2))
    drawn: Tensor = normal.rsample((3,))
    divergence: Tensor = kl_divergence(normal, other)
    chosen: Tensor = Categorical(logits=mean).sample()
    return drawn.mean() + divergence.sum() + normal.log_prob(drawn).sum() + chosen


def named(model: nn.Module) -> Iterator[tuple[str, int]]:
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            yield name, parameter.numel()


def shapes(x: Tensor) -> list[int]:
    size: opweave.Size = x.shape
    rows, columns = x.size(0), x.size(1)
    flat = x.reshape(-1).to(opweave.float64)
    values, indices = flat.sort(descending=True)
    stacked = opweave.stack([values, indices.to(values.dtype)], dim=0)
    picked = opweave.where(stacked > 0, stacked, opweave.zeros_like(stacked))
    return [len(size), rows, columns, picked.ndim, *picked.tolist()[0][:0]]


def main() -> dict[str, float]:
    opweave.manual_seed(0)
    everything = Waves(48, 16)
    parts = random_split(everything, [32, 16])
    loader = DataLoader(parts[0], batch_size=8, shuffle=True)
    model = Model(16, 8, 2)
    losses = train(model, loader, epochs=3)
    tested = accuracy(model, DataLoader(parts[1], batch_size=8))
    optimizer = optim.SGD([{"params": model.parameters()}], lr=0.1, momentum=0.9)
    StepLR(optimizer, step_size=1)
    with tempfile.TemporaryDirectory() as folder:
        epoch = files(model, optimizer, Path(folder))["epoch"]
    pairs = TensorDataset(opweave.ones(2, 3), opweave.zeros(2))
    ones, _ = pairs[0]
    ordered = nn.Sequential(OrderedDict([("linear", nn.Linear(3, 3)), ("act", nn.Tanh())]))
    result: Tensor = ordered(ones)
    counts = dict(named(model))
    assert len(gradients()) == 2
    assert shapes(opweave.ones(2, 3))[0] == 2
    return {
        "first": losses[0],
        "last": losses[-1],
        "accuracy": tested,
        "epoch": float(epoch),
        "numbers": float(sum(counts.values())),
        "drawn": distributions(opweave.zeros(2)).item() + result.sum().item(),
    }


if __name__ == "__main__":
    figures = main()
    assert figures["last"] < figures["first"]
    assert figures["accuracy"] > 0.5
