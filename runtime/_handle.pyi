"""The base of class Tensor."""

class Owner:
    _h: float

def read_array(array: object, dtype: int, owner: int, /) -> float | None: ...
def array_struct(handle: float, kind: str, readonly: object, /) -> object: ...
