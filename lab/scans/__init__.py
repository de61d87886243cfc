"""A Scan node and its tapes, both ways: taken apart into loop variables, and built from them.

Start with `node`: the only file that counts how a Scan orders its arguments.  `buffers` and
`slices` know how arrays are allocated and cut, `operations` and `formula` write what a step
computes, `names` finds out what variables are called, `replacing` the Scans of a graph.
"""
