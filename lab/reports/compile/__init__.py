"""PyTensor's rewrites of Scans and their buffers, and the gradient after these rewrites.

`compile` builds the report, whose records are in `compiled`.  `rewriting` records the rewrites,
`buffers` counts the rows that remain, and `late_gradient` differentiates a graph after its buffers
were shortened.
"""
