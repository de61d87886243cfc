"""Forward derivatives: propagate tangents and power series in the direction of time.

Start with `series`, which propagates coefficients through a graph and its Scans.  The rules for
single operations are in `pushforward` (order 1) and in `taylor` (any order).
`lab.gradients.derivative` selects the mode.
"""
