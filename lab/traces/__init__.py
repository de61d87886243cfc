"""Run a graph node by node, and record every read and write of every tape.

Start with `tracing`: its function `trace` returns a `trace.Trace`.  `run` evaluates a graph, and
`loop_run` steps through a Scan.  `flow` follows values from step to step, `scan_of` relates a Scan
to the other Scans of a trace, and `differences` compares two runs.
"""
