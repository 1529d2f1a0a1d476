"""Mistakes. Each line with a comment is refused by mypy for the reason that it names; the others are accepted."""

# ruff: noqa: B018
import numpy as np
import opweave

x = opweave.ones(2, 2)

opweave.add(x, "1")  # arg-type
opweave.add(x, x, alfa=2)  # call-arg
opweave.add(x, x, 2)  # call-arg
opweave.add(x)  # call-arg
opweave.exp([1.0, 2.0])  # arg-type
opweave.exp(x, out=1)  # arg-type
opweave.zeros("2")  # arg-type
opweave.zeros(2, dtype="float32")  # arg-type
opweave.zeros(2, device=3)  # arg-type
opweave.full((2, 2), "x")  # arg-type
opweave.tensor([1], dtype="float32")  # arg-type
opweave.tensor([1], dtyp=opweave.int)  # call-arg
opweave.softmax(x)  # call-arg
opweave.mm(x, 2)  # arg-type
opweave.from_numpy([1.0])  # arg-type
opweave.frombuffer([1.0], dtype=opweave.float)  # arg-type
opweave.set_default_dtype(float)  # arg-type
opweave.promote_types(opweave.int, 1)  # arg-type
opweave.set_num_threads("2")  # arg-type
opweave.no_such_function(x)  # attr-defined
opweave.float128  # attr-defined
x.no_such_method()  # attr-defined
x.sum(dim="0")  # arg-type
x.sum(dims=0)  # call-arg
x.add_("1")  # arg-type
x.add_(x, out=x)  # call-arg
x.view(2.5)  # arg-type
x.transpose(0)  # call-arg
x.to("cpu", "float32")  # call-overload
x.clone(memory_format="contiguous")  # arg-type
x.shape = (4,)  # misc, assignment
x + "1"  # operator
x @ "1"  # operator
x["name"]  # index
x["name"] = 1  # index
row: int = x[0]  # assignment
size: str = x.shape[0]  # assignment
array: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = x  # assignment
opweave.cpu.no_such_function()  # attr-defined
