"""`python -m opweave.demo [IMAGE]`: what opweave is, on a photograph."""
