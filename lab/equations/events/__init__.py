"""Describe the reads, writes, and sums of a run as a sequence of events.

Start with `events`, which returns the `Events` of a trace. `records` contains the plain data,
`build` builds an event, `sums` splits a write, and `timeline` returns the role of a slot.
"""
