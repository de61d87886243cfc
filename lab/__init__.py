"""Scantape's engine: declare loops, differentiate their Scans, trace every read and write.

Loops

- declare a loop: `Loop`, with `State`, `Sequence`, `Parameter`, `RandomState`, `until`; ready-made
  loops: `gallery.loops`
- write a loop as equations: `Loop.system`; a PyTensor graph: `system`
- see the arguments of `pytensor.scan`, its Scan, the names of the variables in PyTensor's
  documentation, and the graphs for few steps: `canonical`

Derivatives

- differentiate in reverse mode, to any order: `derivative`; a single Scan: `derive`, `pullback`;
  in ``pytensor.grad``: `our_pullback`
- compute high orders with one Scan: ``derivative(…, mode="taylor")``
- differentiate in forward mode: `pushforward`; compare both modes: `dot_product`
- record the reads and writes of every step: `trace`; the preserved and overwritten slots, the
  contributions, and the formulas: `events`
- find the first step with a value that is nan, infinite, or beyond a bound, and its cause: `first`
- measure how much the last state depends on earlier states: `influence`
- compute the memory of a derivative's buffers, and the savings by checkpoints: `memory`

Checks

- compare a trace with the compiled graph: `Derivative.verify`; a derivative with finite
  differences and more: `check`; our pullback with PyTensor's own: `compare`
- find the first value that a faulty rule makes wrong: `BROKEN`, `break_rule`

Your graphs

- describe a graph or a PyMC model, its gradient, and known traps: `explain`
- list the Scans, rewrites, and buffers of a compiled function, and the error of a gradient that
  is computed after its buffers were shortened: `compiled`

Smaller systems

- route gradients by where, cat, narrow, and clamp: `structural`
- differentiate plain Python with a tape that is written while it runs: `eager`

`lab` does not draw; `visual` does.
"""

# ruff: noqa: E402  # check the installation before all other imports

from pathlib import Path
from runpy import run_path

_installed = run_path(str(Path(__file__).parents[1] / "scantape.py"))
_installed["warn_of_half"]("visual")
_installed["check_pytensor"]()

from importlib import import_module
from importlib.util import find_spec

import lazy_loader

from lab.retired import RETIRED_NAMES, retired_attribute

# Each name is imported when it is first used; the stub next to this file contains its location.
_MODULES = {"check": "lab.checks.check", "gallery": "lab.loops.gallery"}
_import_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in RETIRED_NAMES:
        raise retired_attribute(name)
    module = _MODULES.get(name, f"lab.{name}")
    return import_module(module) if find_spec(module) else _import_name(name)
