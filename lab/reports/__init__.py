"""Reports on a graph or a run: frozen records, which `tables` writes as text or HTML.

`explain` describes Scans and gradients, and `compare` compares our pullback with PyTensor's own.
`compile` reports rewrites and buffers, `breaking` reports the effect of faulty rules, and
`canonical` reports the arguments of `pytensor.scan`.  `runs` searches and measures a run.
"""
