"""What composites of Fourier transforms and windows check, compute and differentiate."""
