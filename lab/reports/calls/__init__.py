"""The arguments of `pytensor.scan`, the Scan that it builds, and the names of its variables.

`canonical` builds the report, and `expressions` writes variables of the outer graph.
"""
