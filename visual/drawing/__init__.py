"""Draw any picture of a loop or of a graph's derivative.

Start with `draw`. `catalogue` lists the kinds of pictures with their options, `study` builds and
runs the derivative, `export` writes all pictures, and `figures` draws the eight figures of the
tutorial on Scan.
"""
