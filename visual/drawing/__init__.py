"""Draw any picture of a loop or of a graph's derivative, or one of eight figures.

Start with `draw`. `catalogue` lists the kinds of pictures with their options, `study` builds and
runs the derivative, and `export` writes all pictures.
"""
