"""opweave.utils.benchmark: timing of statements with replicates, and tables of them, as in torch.utils.benchmark.

Statements are Python; instruction counts and random inputs (torch's Callgrind and Fuzzer) are not here.
"""

from .compare import Colorize, Compare
from .measurement import Measurement, TaskSpec
from .timer import Timer
from .units import select_unit, trim_sigfig, unit_to_english

__all__ = [
    "Colorize",
    "Compare",
    "Measurement",
    "TaskSpec",
    "Timer",
    "select_unit",
    "trim_sigfig",
    "unit_to_english",
]
