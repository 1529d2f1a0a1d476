"""The engine of gradients: the graph of recorded calls and the backward pass. What users call stands in autograd/."""
