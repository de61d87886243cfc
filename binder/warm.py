"""Fill the caches that a first picture and a first check would wait for."""

import lab
import visual
from lab.loops import gallery

for name in ("square", "rnn"):
    derivative = gallery.loops[name].derivative(order=2)
    trace = lab.trace(derivative)
    derivative.verify(trace)  # compiles: PyTensor keeps what it made
    visual.tapes(trace).svg()
visual.draw(gallery.loops["square"], "stepgraph").svg()  # Graphviz finds its fonts
