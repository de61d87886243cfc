"""Describe a graph: its Scans, the gradient of its cost, its memory, and its known traps.

Start with `explain`; its report is in `explanation`.  Add a new trap to `traps`.
"""
