"""What PyTensor's rewrites leave of Scans and their buffers, and what a gradient loses by it.

Start with `compile`; the record and its words are in `compiled`.  `rewriting` listens to the
rewrites, `fates` tells what became of every Scan, `buffers` which slot holds which row.
`shortening` differentiates too late, on purpose.
"""
