"""opweave.fx.passes: what goes through graphs."""

from . import shape_prop

__all__ = ["shape_prop"]
