"""Derivatives: the pullback of a Scan in eleven phases, of any order, and the pushforward.

Start with `pullback`; its phases are in `step`, `tapes` and `rows`, what they decide in
`decisions`, and the same as plain data in `record`.  `status` tells what a gradient is that is
no number.  `derivative` repeats it all, once per order.
"""

from lab.gradients import pullback as pullback  # differentiates every `TapeScan`
