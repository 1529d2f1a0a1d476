"""The dispatch of operators' calls: arguments are checked and converted, results are made into tensors."""
