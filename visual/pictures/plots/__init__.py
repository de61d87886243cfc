"""Plots of a run, drawn with matplotlib: start with `values`, `influence`, or `memory`.

`series` computes the numbers, and `axes` draws curves and heat maps as shapes.
"""
