"""Report the first step with a value such as nan, the influence over steps, and the memory.

Start with `first`.  `influence` differentiates each value of a state wrt the earlier values.
`memory` computes the size and lifetime of every buffer of a derivative.
"""
