"""Tensors that are not dense: a folder and a dispatch key for each representation."""
