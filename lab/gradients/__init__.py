"""Derivatives of any order: the pullback of a Scan, in eleven phases, and the pushforward.

Start with `pullback`: its phases are in `step`, `tapes`, and `rows`, their results in `decisions`,
and the same as plain data in `record`.  `status` describes gradients that are not numbers.
`derivative` differentiates repeatedly, once for each order.
"""

from lab.gradients import pullback as pullback  # differentiates every `TapeScan`
