"""Reports on a graph or a run: frozen records, which `tables` writes as text or HTML.

`explain` describes Scans and gradients, `compare` compares our pullback with PyTensor's, `compile`
reports rewrites and buffers, `breaking` the effect of faulty rules, `calls` the arguments of
`pytensor.scan`, and `runs` searches and measures a run.
"""
