"""The module `torch` of processes that a script under `python -m opweave.as_torch` starts: it gives way to opweave."""

import sys

import opweave

del sys.modules[__name__]
opweave.as_torch()
