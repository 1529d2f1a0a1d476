"""Sums of products over shared dimensions, for `einsum` and `tensordot`: parsing, planning, execution."""
