"""Runs: a graph computed node by node, and every read and write of every tape recorded.

Start with `tracing`, whose `trace` makes a `trace.Trace`.  `run` walks a graph and `loop_run`
steps one Scan; `flow` follows values from step to step, `scan_of` knows a Scan beside the others,
`parting` finds where two runs part.
"""
