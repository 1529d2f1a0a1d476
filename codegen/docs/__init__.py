"""What generated docstrings say, and their examples."""
