"""A Scan as a system of equations, and its formulas with numbers, plain and in LaTeX.

Start with `system`: the record and how it is written.  `reading` reads it off a graph and finds
its letters, `spelling` writes the formulas of a trace.
"""
