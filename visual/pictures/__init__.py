"""The kinds of pictures: a file or folder for each kind, with a function that returns a Scene.

Start with `tapes`. `machine` plays a trace. `unrolled`, `ssa`, `taps`, `genealogy`, and `stepgraph`
draw a trace, and `phases` draws a derivation. `plots` draws the values of a trace and two reports,
`dot_product` draws a report, `eager` draws recordings, and `routing` draws structural primitives.
"""
