"""Class Tensor: its methods by topic, indexing, construction, storage and printing."""
