"""Fill the caches that a first picture, a first check and a first PDF would wait for."""

import io

from matplotlib.figure import Figure

import lab
import visual
from lab.loops import gallery

for name in ("square", "rnn"):
    derivative = gallery.loops[name].derivative(order=2)
    trace = lab.trace(derivative)
    derivative.verify(trace)  # compiles: PyTensor keeps what it made
    visual.tapes(trace).svg()
visual.draw(gallery.loops["square"], "stepgraph").svg()  # Graphviz finds its fonts
Figure().savefig(io.BytesIO(), format="pdf")  # and so does matplotlib
