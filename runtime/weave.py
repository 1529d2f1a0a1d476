"""opweave.weave: `weave(path)` compiles operators that a file declares into an importable package."""

from ._weave.weave import WeaveError as WeaveError
from ._weave.weave import Woven as Woven
from ._weave.weave import weave as weave
