"""Loops of training and of reinforcement learning."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("pytorch_ignite", "stable_baselines3")


def _model() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def engines() -> Any:
    """ignite: a trainer with handlers, an evaluator with metrics, a running average, early stopping."""
    from ignite import metrics
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.handlers import EarlyStopping

    model, loss = _model(), torch.nn.CrossEntropyLoss()
    data = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(2)]
    trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), loss)
    metrics.RunningAverage(output_transform=lambda x: x).attach(trainer, "average")
    measured = {"accuracy": metrics.Accuracy(), "loss": metrics.Loss(loss), "confusion": metrics.ConfusionMatrix(3)}
    evaluator = create_supervised_evaluator(model, metrics=measured)
    stopping = EarlyStopping(2, lambda engine: -engine.state.metrics["loss"], trainer)
    evaluator.add_event_handler(Events.COMPLETED, stopping)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda _: evaluator.run(data))
    state = trainer.run(data, max_epochs=3)
    return state.iteration, state.metrics["average"], dict(evaluator.state.metrics), list(model.parameters())


def checkpoints() -> Any:
    """ignite: a checkpoint of model and optimizer, loaded again."""
    import tempfile

    from ignite.engine import Engine, Events
    from ignite.handlers import Checkpoint, DiskSaver

    model = _model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def step(_: Any, batch: Any) -> Any:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    kept = {"model": model, "optimizer": optimizer}
    with tempfile.TemporaryDirectory() as folder:
        trainer, saver = Engine(step), Checkpoint(kept, DiskSaver(folder, create_dir=False), n_saved=1)
        trainer.add_event_handler(Events.EPOCH_COMPLETED, saver)
        trainer.run([torch.randn(5, 4)], max_epochs=2)
        before = [each.detach().clone() for each in model.parameters()]
        step(None, torch.randn(5, 4))
        Checkpoint.load_objects(kept, checkpoint=torch.load(saver.last_checkpoint))
    return before, list(model.parameters()), optimizer.state_dict()["state"][0]


def _environment() -> Any:
    import gymnasium
    import numpy as np

    class Line(gymnasium.Env):  # type: ignore[type-arg]
        observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.at = 0.0
            return np.array([self.at, 1.0], np.float32), {}

        def step(self, action: Any) -> Any:
            self.at += 0.25 if action else -0.25
            return np.array([self.at, 1.0], np.float32), self.at, abs(self.at) >= 1.0, False, {}

    return Line()


def policy_gradients() -> Any:
    """stable-baselines3: PPO and A2C on an environment of one dimension, and an action."""
    from stable_baselines3 import A2C, PPO

    answers = []
    for kind, options in ((PPO, {"n_steps": 16, "batch_size": 8, "n_epochs": 2}), (A2C, {"n_steps": 8})):
        model: Any = kind("MlpPolicy", _environment(), seed=0, policy_kwargs={"net_arch": [8]}, device="cpu", **options)
        model.learn(32)
        action, _ = model.predict(model.observation_space.low, deterministic=True)
        answers.append((list(model.policy.parameters()), action))
    return answers


def value_learning() -> Any:
    """stable-baselines3: DQN, saved and loaded."""
    import tempfile

    from stable_baselines3 import DQN

    options = {"learning_starts": 8, "batch_size": 8, "policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}
    model = DQN("MlpPolicy", _environment(), train_freq=4, buffer_size=64, **options)
    model.learn(32)
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        other = DQN.load(f"{folder}/model", device="cpu")
    return list(other.policy.parameters())
