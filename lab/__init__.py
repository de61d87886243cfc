"""Scantape's engine: declare loops, differentiate their Scans, trace every read and write.

What you can do, and the name for it:

Loops

- declare one: `Loop`, of `State`, `Sequence`, `Parameter`, `RandomState`, `until`; or take one
  from `gallery.loops`
- read it as equations: `Loop.system`; of a PyTensor graph: `system`
- see the arguments of `pytensor.scan`, its Scan, the names of the variables in PyTensor's
  documentation, and the graphs for few steps: `canonical`

Derivatives

- differentiate backwards, to any order: `derivative`; one Scan alone: `derive`, `pullback`;
  whatever calls ``pytensor.grad``: `our_pullback`
- to high orders by one Scan: ``derivative(…, mode="taylor")``
- differentiate forwards: `pushforward`; hold a loop's two derivatives together: `dot_product`
- see what every step read and wrote: `trace`; which slots it preserves and overwrites, and what
  it adds: `events`; as formulas: `spelled`
- find the step at which a value first is nan, infinite or beyond a bound, and why: `first`
- ask whether the end remembers the beginning, and what truncation loses: `influence`; which
  buffers a derivative keeps, and what checkpoints would: `memory`

Whether they are right

- compile the same graph: `Derivative.verify`; finite differences and more: `check`
- compare our pullback with PyTensor's own: `compare`
- break a rule of the derivative and see where it shows: `BROKEN`, `break_rule`

Graphs of your own

- have one explained, or a PyMC model, with the traps it falls into: `explain`
- see the Scans, rewrites and buffers of a compiled function, and what a gradient loses that is
  taken after its buffers were shortened: `compiled`

Smaller systems

- route gradients by where, cat, narrow and clamp: `structural`
- differentiate plain Python, with a tape that is written while it runs: `eager`

`lab` draws nothing; that is what `visual` is for.
"""

# ruff: noqa: E402  # nothing else is imported before the installation is checked

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
