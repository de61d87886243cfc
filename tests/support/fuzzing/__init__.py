"""Random calls, and their permitted outcomes."""
