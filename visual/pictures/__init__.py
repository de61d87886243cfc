"""The pictures: a file or folder for each, with a function of its name that returns a Scene.

Start with `tapes`.  Of a trace: `unrolled`, `ssa`, `taps`, `genealogy`, `stepgraph`,
`values`, `equations`.  Of a derivation: `phases`.  Of reports of `lab`: `dot_product`,
`influence`, `memory`.  Of other engines: `eager`, `routing`.
"""
