"""opweave.optim: optimizers and schedules of their learning rates, as in torch.optim.

An optimizer reads the gradients in `grad` of its parameters and writes the parameters in place. Results equal torch's
but for rounding; the state has torch's keys, so that a state_dict goes from one library to the other.
"""

from . import functional, lr_scheduler
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rmsprop import RMSprop
from .sgd import SGD

__all__ = ["LBFGS", "SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "functional", "lr_scheduler"]
