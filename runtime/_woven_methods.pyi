"""The methods that woven packages add to class Tensor, for type checkers: `opweave stubs` writes this file."""

class WovenMethods:
    __slots__ = ()
