"""The key `named`: tensors whose dimensions have names.

The names are the attribute `_names` of the tensor; its handle has the key. `handler.py` answers calls: it puts
positions in the place of names, finds the names of the result by the rule of the operator (`rules.py`), and goes on
with the key excluded, so that everything below sees plain tensors.
"""
