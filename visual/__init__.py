"""The pictures of Scantape: from traces to scenes, from scenes to files.

The tape machine

- `machine`: all tapes of a run, played event by event in a notebook or a page; or one moment of it;
  two runs in lockstep, of two loops or by the correct and by a faulty rule

Any of thirteen kinds, by its name

- `draw`: a loop, or the derivative of a graph, and what you choose about it, as a picture
- `export`: all pictures of it, with an index page

One kind each

- of a trace: `unrolled`, `rolled`, `tapes`, `moment`, `ssa`, `taps`, `genealogy`, `stepgraph` and
  `values`; of a trace and a system: `equations`
- of a derivation: `phases`
- of what `lab.influence` and `lab.memory` tell: `influence`, `memory`
- of where, cat, narrow and clamp at your arrays: `routing`; of a step of a tape in these terms:
  `transposed`; of a loop's two derivatives and their products: `dot_product`
- of a recording of `lab.eager`: `eager`; of a loop on both kinds of tapes: `two_tapes`
- the eight figures of the square loop: `figure`

To choose from, to answer: widgets, which go into a box

- `Workbench`: a loop with controls for all that can be chosen about it, in a notebook
- `Page`: machines of loops, taps, orders, costs, and rules to choose from, as one page without
  Python that recomputes them when a value is dragged
- `Exercise`, `Exercises`: questions about a trace, checked and explained; as a page without Python;
  `Question`: one of your own; `puzzles`: six loops with one part missing
- `Work`: a task to write code for, which is run and compared

What they are

- `Scene`: a picture; `save`, `svg` and `text` make a file of it, or a text
"""

# ruff: noqa: E402  # nothing else is imported before it is known whose `lab` would be imported

from pathlib import Path
from runpy import run_path

run_path(str(Path(__file__).parents[1] / "scantape.py"))["check_half"]("lab")

import lazy_loader

from visual import backends as backends
from visual import widgets as widgets
from visual.retired import RETIRED_NAMES, removal

# Each name is imported on first use; the stub next to this file lists the modules.
_getattr, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in RETIRED_NAMES:
        raise AttributeError(removal(f"visual.{name}", RETIRED_NAMES[name]))
    return _getattr(name)
