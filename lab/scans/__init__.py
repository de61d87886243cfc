"""Read a Scan node as a list of loop variables, and build Scan nodes from loop variables.

Start with `node`, the only file that computes the positions of arguments.  `buffers` and `slices`
analyze how arrays are allocated and cut.  `operations` and `formula` write the step as formulas,
`names` finds names of variables, and `replacing` replaces the Scans of a graph.
"""
