"""Declare loops and build their graphs.

Start with `loop`, which contains the class `Loop`.  `declaration` and `variables` contain its
fields, and `build` builds its PyTensor graph and cost.  `written` and the folder `text` parse a
step in text form.  `gallery` contains a loop for every kind of tape, `scan_call` converts a loop to
a call of ``pytensor.scan``, and `model` reads the log-density of a PyMC model.
"""
