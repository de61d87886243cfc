"""What PyTensor's rewrites leave of Scans and their buffers, and what a gradient loses by it.

Start with `compile`; the record and its words are in `compiled`.  `rewriting` listens to the
rewrites, `circular_buffers` tells which slot holds which row.  `walking` goes from one rewrite to
the next, which `walk` records, and `idle` tells what none of them removes.  `shortening`
differentiates too late, on purpose.
"""
