"""What PyTensor's rewrites make of Scans and their buffers, and what a gradient loses by them.

Start with `compile`; its report is in `compiled`.  `rewriting` records the rewrites,
`circular_buffers` computes the row in each slot, and `late_gradient` differentiates a graph after
its buffers were shortened.
"""
