"""Draw any picture of a loop or of a graph's derivative, or a figure of the square loop.

Start with `draw`. `catalogue` lists the kinds of pictures with their options, `study` builds and
runs the derivative, and `export` writes all pictures.
"""
