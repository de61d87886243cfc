"""The arguments of `pytensor.scan`, the Scan that it builds, and the names of its variables.

`canonical` builds the report; `few_steps` adds the graphs for −1, 0, 1, and 2 steps, and `written`
writes variables of the outer graph as expressions.
"""
