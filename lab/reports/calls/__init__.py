"""The arguments of `pytensor.scan`, the Scan that it builds, and the names of its variables.

`canonical` builds the report, and `written` writes variables of the outer graph as expressions.
"""
