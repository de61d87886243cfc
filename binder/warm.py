"""Fill the caches, so that the first picture and the first check of a user are fast."""

import lab
import visual
from lab.loops import gallery

for name in ("square", "rnn"):
    derivative = gallery.loops[name].derivative(order=2)
    trace = lab.trace(derivative)
    derivative.verify(trace)  # compiles the graph; PyTensor caches the result
    visual.tapes(trace).svg()
visual.draw(gallery.loops["square"], "stepgraph").svg()  # Graphviz caches its fonts
