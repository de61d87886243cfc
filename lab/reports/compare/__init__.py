"""Our pullback beside PyTensor's own.

Start with `compare`; the record and its words are in `comparison`.  `subject` is what is compared,
`sides` differentiates it twice, `watching` records what PyTensor's pullback builds, `facets` holds
two backward Scans against one another, `script` writes a report for a maintainer.
"""
