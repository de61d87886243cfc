"""Reports on a run: the step at which a value first occurs, influence over steps, and memory.

Start with `first`.  `influence` differentiates each value of a state wrt the earlier values.
`memory` computes the size and lifetime of every buffer of a derivative.
"""
