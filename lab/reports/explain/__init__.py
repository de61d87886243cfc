"""What a graph does: its Scans, their gradient, what it costs, and its traps.

Start with `explain`; the record and its words are in `explanation`.  A new trap goes to `traps`,
what finds it to `finders`; `timing` runs it compiled.
"""
