"""Reports on a run: the step at which a value first occurs, influence over steps, and memory.

Start with `first`.  `influence` computes the derivative of each value of a state wrt the earlier
values, and `memory` the size and lifetime of every buffer of a derivative.
"""
