"""Names of torch that lead elsewhere or have no meaning here, by tables; nothing of the package is imported."""
