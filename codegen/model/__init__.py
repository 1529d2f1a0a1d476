"""What an operator is: frozen, typed values, and what follows from them alone."""
