"""Runs: a graph computed node by node, and every read and write of every tape recorded.

Start with `record`, whose `trace` makes a `trace.Trace`.  `run` walks a graph and `loop_run`
steps one Scan; `flow` follows values from step to step, `parting` finds where two runs part,
`verify` holds a run against the compiled graph.
"""
