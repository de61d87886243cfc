"""The pictures of Scantape: from traces to scenes, from scenes to files.

- `draw`: a loop, or the derivative of a graph, and what you choose about it, as a picture
- `export`: all pictures of it, with an index page
- the pictures: `unrolled`, `rolled`, `tapes`, `ssa`, `genealogy`, `stepgraph` and `values` of a
  trace, `equations` of a trace and a system, `taps` of a tape or trace, `phases` of a
  derivation, `connections` of a derivative
- `canonical`: what `pytensor.scan` was given, and what its Scan got
- `Exercise`, `Exercises`: questions about a trace, checked and explained; as a page without Python;
  `Question`: one of your own
- `compiled`: the buffers that are left in a compiled graph, slot by slot
- `Exercise`, `Exercises`: questions about a trace, checked and explained; as a page without Python
- `routing` of where, cat, narrow and clamp at your arrays; `transposed`, a step of a tape in these
  terms; `dot_product`, both derivatives of a loop and their products, step by step
- `breaking`: what a broken rule does, from a `lab.Breakage`
- `comparing`: our pullback beside PyTensor's own, from a `lab.Comparison`
- `Stepper`: pictures to walk through, in a notebook or as a page
- `Atlas`: a grid of loops, taps, orders and costs to choose from, as one page without Python
- `Workbench`: a loop with controls for all that can be chosen about it, in a notebook
- `figure`: the eight figures of the square loop
- `eager`: the tapes of a recording of `lab.eager`; `two_tapes`: a loop on both kinds of tapes
- `Scene.save`, `Scene.svg`, `Scene.text`: a picture as a file or as text
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from visual.breaking import breaking
from visual.canonical import canonical
from visual.connections import connections
from visual.dot_product import dot_product
from visual.drawing import draw
from visual.equations import equations
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

if TYPE_CHECKING:
    from visual.atlas import Atlas
    from visual.buffer_cells import compiled
    from visual.comparing import comparing
    from visual.eager_tape import eager
    from visual.exercise import Exercise, Exercises
    from visual.question import Question
    from visual.side_by_side import two_tapes
    from visual.stepper import Stepper
    from visual.workbench import Workbench

__all__ = [
    "Atlas",
    "Exercise",
    "Exercises",
    "Plot",
    "Question",
    "Scene",
    "Stepper",
    "Workbench",
    "breaking",
    "canonical",
    "comparing",
    "compiled",
    "connections",
    "dot_product",
    "draw",
    "eager",
    "equations",
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
    "two_tapes",
    "unrolled",
    "values",
]

# What these need, other pictures should not wait for.
_LATER = {
    "Atlas": "atlas",
    "Exercise": "exercise",
    "Exercises": "exercise",
    "Question": "question",
    "Stepper": "stepper",
    "Workbench": "workbench",
    "comparing": "comparing",
    "compiled": "buffer_cells",
    "eager": "eager_tape",
    "two_tapes": "side_by_side",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is imported only when it is asked for."""
        if name in _LATER:
            return getattr(import_module(f"visual.{_LATER[name]}"), name)
        raise AttributeError(f"module 'visual' has no attribute {name!r}")
