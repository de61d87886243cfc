"""The pictures, one file or folder a kind; each has a function of its name that returns a Scene.

Start with `tapes`, which all the others stand beside.  Of a trace: `unrolled`, `rolled`, `ssa`,
`taps`, `genealogy`, `stepgraph`, `values`, `equations`.  Of how a gradient is derived: `phases`,
`connections`.  Of what `lab` reports: `canonical`, `compiled`, `breaking`,
`dot_product`, `directions`, `influence`, `memory`, `orders`.  Of other engines: `eager`, `routing`.
"""
