"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`.  It draws a `graph`, whose nodes are `quantities` and whose edges are uses,
and `contributions` from Scan to Scan, where `placing` puts them.
"""
