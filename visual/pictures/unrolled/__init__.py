"""The unrolled picture: a loop over time, with its backward Scans below it.

Start with `unrolled`. It draws a `graph`, whose nodes are `quantities`, and whose edges are uses
and `contributions` between Scans; `placing` assigns columns and rows.
"""
