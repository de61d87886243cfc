"""The picture of values: lines and heat maps over the steps, drawn by matplotlib.

Start with `plot`.  `series` are the numbers and their panels, `panels` draws these on axes, `svg`
lets matplotlib's SVG stand alone, and `text` is the twin.
"""
