"""The pictures and widgets of Scantape.

The tape machine

- `machine`: the tapes of a run, played event by event in a notebook or a page, or drawn at a single
  moment. The machine also plays two runs in lockstep: of two loops, or of a correct and a faulty
  rule

Pictures by name

- `draw`: one picture of a loop, or of the derivative of a graph
- `export`: all these pictures, with an index page
- `figure`: the eight figures of the square loop

Pictures of a specific object

- a trace: `unrolled`, `tapes`, `ssa`, `taps`, `genealogy`, `stepgraph`, `values`
- a derivation: `phases`
- the results of `lab.influence` and `lab.memory`: `influence`, `memory`
- the structural primitives where, cat, narrow, and clamp: `routing`; a step of a tape in these
  primitives: `transposed`
- the forward and reverse derivatives of a loop, and their dot products: `dot_product`
- a recording of `lab.eager`: `eager`; a loop as a Scan and as an eager recording: `two_tapes`

Widgets, which can also be in boxes of ipywidgets

- `Workbench`: a loop or a graph with controls for every choice, in a notebook
- `Page`: a page with the machines of several loops; without Python, the page recomputes the
  numbers when a reader drags a value
- `Exercise`, `Exercises`: questions about a trace, with checked and explained answers, also as a
  page without Python; `Question`: a question with your own text
- `Work`: a programming task, whose solution is run and compared

`Scene` is the type of all pictures. Its method `save` writes a file.
"""

# ruff: noqa: E402  # the check comes first, because another package may have the name `lab`

from pathlib import Path
from runpy import run_path

run_path(str(Path(__file__).parents[1] / "scantape.py"))["check_half"]("lab")

import lazy_loader

from visual import backends as backends
from visual.retired import RETIRED_NAMES, removal

# Each name is imported on first use; the stub next to this file lists the modules.
_getattr, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in RETIRED_NAMES:
        raise AttributeError(removal(f"visual.{name}", RETIRED_NAMES[name]))
    return _getattr(name)
