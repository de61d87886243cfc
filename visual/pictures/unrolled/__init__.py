"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`, which draws a `graph`: nodes are `quantities`, edges are uses. `placing`
assigns columns and lanes; `picture` draws boxes, arrows with `factors`, and `labels` in the space
of a `room`. `rolled` draws the step of a loop as one box, `overview` a card for each Scan.
"""
