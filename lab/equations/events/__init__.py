"""What a run reads, writes and adds, as a sequence of events on one clock.

Start with `events`: it returns the `Events` of a trace. `records` has the plain data, `sums` splits
a write into its terms, `timeline` decides what a slot is at a moment.
"""
