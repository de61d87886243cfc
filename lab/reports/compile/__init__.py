"""What PyTensor's rewrites leave of Scans and their buffers, and what a gradient loses by it.

Start with `compile`; the record and its words are in `compiled`.  `rewriting` listens to the
rewrites, `circular_buffers` tells which slot holds which row.
`shortening` differentiates too late, on purpose.  `walk` goes from one rewrite to the next, and
`idle` tells what none of them removes.
"""
