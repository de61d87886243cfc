"""Report PyTensor's rewrites of Scans, their buffers, and the gradient after these rewrites.

Start with `compile`, which builds the report; `compiled` contains the records of the report.
`rewriting` records the rewrites, and `buffers` counts the rows that remain.
"""
