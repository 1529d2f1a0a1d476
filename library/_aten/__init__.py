"""Functions of layers as PyTorch has them beside those of `nn.functional`: another order of arguments, numbers in place
of words, and few defaults. They call what `nn.functional` calls."""
