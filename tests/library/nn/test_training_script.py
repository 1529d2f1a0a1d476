"""A program as people write them for torch, with another import."""

from __future__ import annotations

import io
import math
import pickle

import opweave as torch
import opweave.nn.functional as F  # noqa: N812 (as everybody does)
from opweave import nn
from opweave.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(0.1))
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.layers(x)))


def test_a_classifier_learns() -> None:
    torch.manual_seed(0)
    angles = torch.rand(300) * 2 * math.pi
    x = torch.stack([angles.cos(), angles.sin()], 1) + 0.05 * torch.randn(300, 2)
    y = (angles * 3 / (2 * math.pi)).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for _ in range(12):
        model.train()
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == y).float().mean().item()
        loss = F.cross_entropy(model(x), y).item()
    assert right > 0.95
    assert loss < 0.3
    memory = io.BytesIO(pickle.dumps(model.state_dict()))
    other = Classifier()
    other.load_state_dict(pickle.load(memory))
    assert torch.equal(other.eval()(x), model(x))


def test_a_convolutional_network_learns() -> None:
    torch.manual_seed(0)
    y = torch.arange(120) % 2
    rows = torch.arange(8)
    stripes = torch.stack([(rows % 2).float().expand(8, 8), (rows % 2).float().unsqueeze(1).expand(8, 8)])
    x = stripes[y].unsqueeze(1) + 0.3 * torch.randn(120, 1, 8, 8)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(12):
        for first in range(0, 120, 40):
            optimizer.zero_grad()
            F.cross_entropy(model(x[first : first + 40]), y[first : first + 40]).backward()
            optimizer.step()
    assert (model.eval()(x).argmax(1) == y).float().mean().item() > 0.95
