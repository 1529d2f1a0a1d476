"""How a call of an operator runs: arguments are checked and converted, results are made into tensors."""
