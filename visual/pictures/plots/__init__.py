"""Plots: `values`, `influence`, and `memory`. `series` computes numbers; `axes` draws shapes."""
