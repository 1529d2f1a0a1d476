"""What composites of linear algebra check, compute and differentiate."""
