"""Operators as frozen, typed values, and the facts that follow from them alone."""
