"""The pictures of Scantape: from traces to scenes, from scenes to files.

Any of eleven kinds, by its name
- `draw`: a loop, or the derivative of a graph, and what you choose about it, as a picture
- `export`: all pictures of it, with an index page

One kind each
- of a trace: `unrolled`, `rolled`, `tapes`, `ssa`, `taps`, `genealogy`, `stepgraph` and `values`;
  of a trace and a system: `equations`
- of a derivation: `phases`; of a derivative: `connections`
- of what `pytensor.scan` was given, and what its Scan got: `canonical`
- of a compiled graph, its buffers slot by slot: `compiled`
- of our pullback beside PyTensor's own, a `lab.Comparison`: `comparing`
- of a broken rule, a `lab.Breakage`: `breaking`
- of where, cat, narrow and clamp at your arrays: `routing`; of a step of a tape in these terms:
  `transposed`; of a loop's two derivatives and their products: `dot_product`
- of a recording of `lab.eager`: `eager`; of a loop on both kinds of tapes: `two_tapes`
- the eight figures of the square loop: `figure`

To walk through, to choose from, to answer
- `Stepper`: pictures to walk through, in a notebook or as a page
- `Workbench`: a loop with controls for all that can be chosen about it, in a notebook
- `Atlas`: a grid of loops, taps, orders and costs to choose from, as one page without Python
- `Exercise`, `Exercises`: questions about a trace, checked and explained; as a page without Python;
  `Question`: one of your own

What they are
- `Scene`: a picture, and `Plot`: one that is plotted; `save`, `svg` and `text` make a file of it,
  or a text
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
    from visual.comparison import comparing
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
    "atlas": ("Atlas",),
    "buffer_cells": ("compiled",),
    "comparison": ("comparing",),
    "eager_tape": ("eager",),
    "exercise": ("Exercise", "Exercises"),
    "question": ("Question",),
    "side_by_side": ("two_tapes",),
    "stepper": ("Stepper",),
    "workbench": ("Workbench",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is imported only when it is asked for."""
        for module, names in _LATER.items():
            if name in names:
                return getattr(import_module(f"visual.{module}"), name)
        raise AttributeError(f"module 'visual' has no attribute {name!r}")
