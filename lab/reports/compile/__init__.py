"""PyTensor's rewrites of Scans and their buffers, and the gradient after these rewrites.

`compile` builds the report, whose records are in `compiled`.  `rewriting` records the rewrites, and
`buffers` counts the rows that remain.
"""
