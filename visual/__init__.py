"""The pictures of Scantape: from traces to scenes, from scenes to files.

- `draw`: a loop, or the derivative of a graph, and what you choose about it, as a picture
- `export`: all pictures of it, with an index page
- the pictures: `unrolled`, `rolled`, `tapes`, `ssa`, `genealogy`, `stepgraph` and `values` of a
  trace, `taps` of a tape or trace, `phases` of a derivation, `connections` of a derivative
- `Exercise`, `Exercises`: questions about a trace, checked and explained; as a page without Python
- `routing` of where, cat, narrow and clamp at your arrays; `transposed`, a step of a tape in these
  terms; `dot_product`, both derivatives of a loop and their products, step by step
- `breaking`: what a broken rule does, from a `lab.Comparison`
- `figure`: the eight figures of the square loop
- `Scene.save`, `Scene.svg`, `Scene.text`: a picture as a file or as text
"""

from visual.breaking import breaking
from visual.connections import connections
from visual.dot_product import dot_product
from visual.drawing import draw
from visual.exercise import Exercise, Exercises
from visual.exporting import export
from visual.figures import figure
from visual.genealogy import genealogy
from visual.phases import phases
from visual.plots import Plot, values
from visual.rolled import rolled
from visual.routing import routing
from visual.scene import Scene
from visual.ssa import ssa
from visual.stepgraph import stepgraph
from visual.tapes import tapes
from visual.taps import taps
from visual.transposed import transposed
from visual.unrolled import unrolled

__all__ = [
    "Exercise",
    "Exercises",
    "Plot",
    "Scene",
    "breaking",
    "connections",
    "dot_product",
    "draw",
    "export",
    "figure",
    "genealogy",
    "phases",
    "rolled",
    "routing",
    "ssa",
    "stepgraph",
    "tapes",
    "taps",
    "transposed",
    "unrolled",
    "values",
]
