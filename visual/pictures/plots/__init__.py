"""Plots of a run, drawn with matplotlib: start with `values`, `influence`, or `memory`.

`series` has the numbers, `axes` draws curves and heat maps, and turns them into shapes.
"""
