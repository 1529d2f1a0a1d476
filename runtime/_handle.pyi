"""The base of class Tensor."""

class Owner:
    _h: float
