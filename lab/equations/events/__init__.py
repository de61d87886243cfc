"""Describe the reads, writes, and sums of a run as a sequence of events.

Start with `events`, which returns the `Events` of a trace. `records` contains the plain data,
`sums` splits a write into its terms, and `timeline` computes the role of a slot at a moment.
"""
