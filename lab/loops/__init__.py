"""Loops as a learner declares them.

Start with `loop`: what can be done with a loop.  `declaration` and `variables` are what it is
declared by, `build` makes a PyTensor graph of it, and a number of that, `written` and the room
`text` read a step that is a text, `gallery` has a loop for every kind of tape, `scan_call` writes
one as a call of ``pytensor.scan``, `model` takes a PyMC model for the graph of its log-density.
"""
