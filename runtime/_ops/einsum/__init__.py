"""Sums of products over shared dimensions, for `einsum` and `tensordot`: parse, plan, execute."""
