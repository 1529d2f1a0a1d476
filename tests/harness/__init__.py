"""What the generated tests of operators stand on: values, layouts, references, comparisons, and a suite per family.

`generated/tests/test_operators.py` holds one class for each operator of ops.yaml; it names a suite of this package
and a `Spec`, the facts about the operator that follow from its entry.
"""
