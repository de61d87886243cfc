"""Write the equations of a Scan and the formulas of a trace, in plain text and LaTeX.

Start with `system`, the record of a system of equations, and its text.  `reading` reads a system
from a graph, and `quantities` writes the names and formulas of a trace.
"""
