"""Compare our pullback of Scan with PyTensor's own.

Start with `compare`; `comparison` contains the report.  `sides` differentiates the cost by both
pullbacks.
"""
