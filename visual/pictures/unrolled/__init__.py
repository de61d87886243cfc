"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`.  It draws a `graph`: its nodes are `quantities`, its edges are uses and
`contributions` from Scan to Scan, and `placing` assigns its columns and rows.
"""
