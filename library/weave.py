"""opweave.weave: `weave(path)` compiles operators that a file declares into an importable package, `weave_text(text)`
those that a text declares."""

from ._weave.text import weave_text as weave_text
from ._weave.weave import WeaveError as WeaveError
from ._weave.weave import Woven as Woven
from ._weave.weave import weave as weave
