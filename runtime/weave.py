"""opweave.weave: operators outside the package. `weave(path)` compiles a file of declarations into an importable package."""

from ._weave.weave import WeaveError as WeaveError
from ._weave.weave import Woven as Woven
from ._weave.weave import weave as weave
