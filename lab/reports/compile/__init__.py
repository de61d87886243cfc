"""PyTensor's rewrites of Scans and their buffers, and the gradient after these rewrites.

`compile` builds the report, whose records are in `compiled`.  `rewriting` records the rewrites,
`circular_buffers` computes the row in each slot, and `late_gradient` differentiates a graph after
its buffers were shortened.
"""
