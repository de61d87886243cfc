"""Scantape's engine: declare loops, differentiate their Scans, trace every read and write.

What you can do, and the name for it:

- declare a loop: `Loop`, of `State`, `Sequence`, `Parameter`, `RandomState`, `until`;
  or take one from `gallery.loops`
- differentiate it: `derivative`; one Scan alone: `derive`, `pullback`
- see what happened: `trace`, as formulas `spelled`; whether it is right: `Trace.verify`, `check`
- ask what becomes of a tap pattern: `Tape.reverse`
- differentiate plain Python, with a tape that is written while it runs: `eager`

`lab` draws nothing; that is what `visual` is for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytensor.scan.utils import until

from lab import check, gallery
from lab.cotangent import Connected, Disconnected, ThroughUntraced, Undefined
from lab.derivation import RULE, Derivation, PullbackRule
from lab.derivative import Derivative, ManyScansWarning, derivative
from lab.errors import ArgumentError, BroadcastError, GradientError, GraphError, LabError
from lab.loop import Loop, LoopGraph
from lab.pullback import derive, pullback
from lab.scan import TapeScan
from lab.spelling import Spelled, spelled
from lab.tape import Kind, Tape
from lab.trace import ScanTrace, TapeTrace, Trace
from lab.tracing import trace
from lab.variables import Parameter, RandomState, Sequence, State

if TYPE_CHECKING:
    from lab import eager

__all__ = [
    "RULE",
    "ArgumentError",
    "BroadcastError",
    "Connected",
    "Derivation",
    "Derivative",
    "Disconnected",
    "GradientError",
    "GraphError",
    "Kind",
    "LabError",
    "Loop",
    "LoopGraph",
    "ManyScansWarning",
    "Parameter",
    "PullbackRule",
    "RandomState",
    "ScanTrace",
    "Sequence",
    "Spelled",
    "State",
    "Tape",
    "TapeScan",
    "TapeTrace",
    "ThroughUntraced",
    "Trace",
    "Undefined",
    "check",
    "derivative",
    "derive",
    "eager",
    "gallery",
    "pullback",
    "spelled",
    "trace",
    "until",
]


def __getattr__(name: str) -> Any:
    """`lab.eager` is imported when it is first asked for: whoever draws Scans does without."""
    if name == "eager":
        return import_module("lab.eager")
    raise AttributeError(f"module 'lab' has no attribute {name!r}")
