"""opweave.optim: optimizers and schedules of their learning rates, as in torch.optim.

An optimizer reads the gradients in `grad` of its parameters and writes the parameters in place. Results equal torch's
but for rounding; the state has torch's keys, so that a state_dict goes from one library to the other.
"""

from typing import Any as _Any

from .._names.module_names import submodule as _submodule
from . import functional, lr_scheduler
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "functional", "lr_scheduler", "swa_utils",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name == "swa_utils":  # modules are imported where they are used
        from importlib import import_module

        return import_module(".swa_utils", __name__)
    return _submodule(__name__, name)
