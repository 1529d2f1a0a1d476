"""Forward derivatives: tensors with a tangent beside them (`func.jvp`, `autograd.forward_ad`).

A dual tensor is a handle without memory whose payload has the tensor itself, the primal, and its tangent. Calls with
such tensors come to `level.py`, which makes the call with the primals; `tangents.py` says what the tangent of the
result is, by three rules: elementwise operators take the gradient by each input with its tangent in place of the
gradient of the result, linear ones are called with tangents, and of all others the gradient, which is linear in the
gradient of the result, is differentiated by that one.
"""
