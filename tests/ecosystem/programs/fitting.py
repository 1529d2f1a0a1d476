"""Trainers that hide the loop."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("lightning", "skorch")


def trainer() -> Any:
    """lightning: a module, a trainer with checkpoints and early stopping, a test, the module loaded again."""
    import logging
    import tempfile
    from pathlib import Path

    import lightning
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
    from torch.utils.data import DataLoader, TensorDataset

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(lightning.LightningModule):
        def __init__(self, width: int = 8, rate: float = 0.1) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.layers = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))

        def _loss(self, batch: Any, name: str) -> Any:
            loss = torch.nn.functional.mse_loss(self.layers(batch[0]), batch[1])
            self.log(name, loss, on_step=False, on_epoch=True)
            return loss

        def training_step(self, batch: Any, index: int) -> Any:
            return self._loss(batch, "train")

        def validation_step(self, batch: Any, index: int) -> Any:
            return self._loss(batch, "validation")

        test_step = validation_step

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams["rate"])
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]

    data = DataLoader(TensorDataset(torch.randn(16, 4), torch.randn(16, 1)), batch_size=8)
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        kept = ModelCheckpoint(folder, monitor="validation")
        fit = lightning.Trainer(
            max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
            callbacks=[kept, EarlyStopping("validation", patience=1)], num_sanity_val_steps=0, gradient_clip_val=1.0,
        )  # fmt: skip
        fit.fit(model, data, data)
        best = Model.load_from_checkpoint(Path(kept.best_model_path))
        tested = fit.test(model, data, verbose=False)
    metrics = {name: value.detach() for name, value in fit.callback_metrics.items()}
    return metrics, tested, list(model.parameters()), list(best.parameters()), dict(best.hparams)


def fabric() -> Any:
    """lightning: a loop of one's own by Fabric."""
    from lightning.fabric import Fabric

    own = Fabric(accelerator="cpu", devices=1)
    own.launch()
    model = torch.nn.Linear(3, 1)
    model, optimizer = own.setup(model, torch.optim.AdamW(model.parameters(), lr=0.1))
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 3)).square().mean()
        own.backward(loss)
        own.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
    return loss, list(model.parameters())


def classifier() -> Any:
    """skorch: a classifier with the interface of scikit-learn, early stopping, probabilities, a pickled copy."""
    import pickle

    import numpy as np
    from skorch import NeuralNetClassifier
    from skorch.callbacks import EarlyStopping

    x, y = np.random.randn(40, 4).astype(np.float32), np.random.randint(0, 2, 40)
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    net = NeuralNetClassifier(
        module, criterion=torch.nn.CrossEntropyLoss, max_epochs=3, lr=0.1, verbose=0, batch_size=16,
        callbacks=[EarlyStopping(patience=5)],
    )  # fmt: skip
    net.fit(x, y)
    copied = pickle.loads(pickle.dumps(net))
    return net.history[:, ("train_loss", "valid_loss", "valid_acc")], net.predict_proba(x), copied.predict(x)


def regressor() -> Any:
    """skorch: a regressor in a search over options of scikit-learn."""
    import numpy as np
    from sklearn.model_selection import GridSearchCV
    from skorch import NeuralNetRegressor

    x = np.random.randn(30, 3).astype(np.float32)
    y = x.sum(1, keepdims=True)

    class Module(torch.nn.Module):
        def __init__(self, width: int = 4) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.first, self.last = torch.nn.Linear(3, width), torch.nn.Linear(width, 1)

        def forward(self, values: Any) -> Any:
            return self.last(torch.tanh(self.first(values)))

    net = NeuralNetRegressor(Module, max_epochs=2, lr=0.05, verbose=0, train_split=None)
    search = GridSearchCV(net, {"module__width": [2, 4]}, cv=2, scoring="neg_mean_squared_error").fit(x, y)
    return search.cv_results_["mean_test_score"], search.predict(x)
