"""Derivatives of any order: the pullback of a Scan, in eleven phases, and the pushforward.

Start with `pullback`.  The modules `step`, `tapes`, and `rows` contain its phases, `decisions`
contains their results, and `record` describes the results as plain data.  `status` describes
missing gradients, and `symbols` writes C′ and dC/dx₃.  `derivative` differentiates repeatedly,
once for each order.  `forward` contains the pushforward and the Taylor mode.
"""

from lab.gradients import pullback as pullback  # differentiates every `TapeScan`
