"""The pictures of Scantape: from traces to scenes, from scenes to files.

- `draw`: a loop, or the derivative of a graph, and what you choose about it, as a picture
- `export`: all pictures of it, with an index page
- the pictures: `unrolled`, `rolled`, `tapes`, `ssa`, `genealogy`, `stepgraph` and `values` of a
  trace, `equations` of a trace and a system, `taps` of a tape or trace, `phases` of a
  derivation, `connections` of a derivative
- `canonical`: what `pytensor.scan` was given, and what its Scan got
- `figure`: the eight figures of the square loop
- `Scene.save`, `Scene.svg`, `Scene.text`: a picture as a file or as text
"""

from visual.canonical import canonical
from visual.connections import connections
from visual.drawing import draw
from visual.equations import equations
from visual.exporting import export
from visual.figures import figure
from visual.genealogy import genealogy
from visual.phases import phases
from visual.plots import Plot, values
from visual.rolled import rolled
from visual.scene import Scene
from visual.ssa import ssa
from visual.stepgraph import stepgraph
from visual.tapes import tapes
from visual.taps import taps
from visual.unrolled import unrolled

__all__ = [
    "Plot",
    "Scene",
    "canonical",
    "connections",
    "draw",
    "equations",
    "export",
    "figure",
    "genealogy",
    "phases",
    "rolled",
    "ssa",
    "stepgraph",
    "tapes",
    "taps",
    "unrolled",
    "values",
]
