"""Turns the nodes of a YAML file into operators, with a reader for every key of an entry."""
