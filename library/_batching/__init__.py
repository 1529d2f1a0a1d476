"""Batching: a function of single samples, called with all of a batch at once (`vmap`).

Within `vmap` a tensor stands for one sample of a batch: it has the shape of a sample, no memory, and the tensor of the
whole batch as its payload, whose first dimension is that of the batch. Calls with such tensors come to `handler.py`,
which calls the same operator, or others, with the batches. `rules.py` says how, by families of operators; what has no
rule is called for each sample (`loop.py`).
"""
