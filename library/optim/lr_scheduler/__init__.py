"""opweave.optim.lr_scheduler: schedules of learning rates, as in torch.optim.lr_scheduler.

Call `step()` of the optimizer first and `step()` of the schedule after it.
"""

from .base import LRScheduler
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cyclic import CyclicLR
from .lambda_lr import LambdaLR, MultiplicativeLR
from .multiplicative import ConstantLR, ExponentialLR, LinearLR, MultiStepLR, PolynomialLR, StepLR
from .one_cycle import OneCycleLR
from .plateau import ReduceLROnPlateau
from .sequential import ChainedScheduler, SequentialLR

_LRScheduler = LRScheduler  # the name it had in torch before 2.0

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
