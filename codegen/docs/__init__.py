"""Generated docstrings and their examples."""
