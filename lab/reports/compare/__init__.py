"""Compare our pullback of Scan with PyTensor's own.

Start with `compare`; `comparison` contains the report.  `subject` is the cost that is compared,
`sides` differentiates it twice, and `watching` records the Scans that PyTensor's pullback builds.
"""
