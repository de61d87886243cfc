"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`, which draws a `graph`: nodes are `quantities`, edges are uses. `placing`
assigns columns and lanes; `picture` draws boxes, arrows with `factors`, and `labels` in the space
of a `room`. `overview` draws a card for each Scan.
"""
