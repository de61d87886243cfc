"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`.  It draws a `graph`: its nodes are `quantities`, its edges are uses, and
contributions from Scan to Scan.  `placing` assigns columns and rows; `picture` draws boxes, arrows
with `factors`, and `labels`.  `rolled` draws the step of a loop as one box.
"""
