"""Scantape's engine: declare loops, differentiate their Scans, trace every read and write.

What you can do, and the name for it:

- declare a loop: `Loop`, of `State`, `Sequence`, `Parameter`, `RandomState`, `until`;
  or take one from `gallery.loops`
- differentiate it: `derivative`; one Scan alone: `derive`, `pullback`
- see what happened: `trace`, as formulas `spelled`; whether it is right: `Trace.verify`, `check`
- differentiate forwards: `pushforward`; hold a loop's two derivatives together: `dot_product`
- ask what becomes of a tap pattern: `Tape.reverse`
- route gradients by where, cat, narrow and clamp: `structural`

`lab` draws nothing; that is what `visual` is for.
"""

from pytensor.scan.utils import until

from lab import check, gallery, structural
from lab.cotangent import Connected, Disconnected, ThroughUntraced, Undefined
from lab.derivation import RULE, Derivation, PullbackRule
from lab.derivative import Derivative, ManyScansWarning, derivative
from lab.dot_product import DotProduct, dot_product
from lab.errors import ArgumentError, BroadcastError, GradientError, GraphError, LabError
from lab.loop import Loop, LoopGraph
from lab.pullback import derive, pullback
from lab.pushforward import pushforward
from lab.scan import TapeScan
from lab.spelling import Spelled, spelled
from lab.tape import Kind, Tape
from lab.trace import ScanTrace, TapeTrace, Trace
from lab.tracing import trace
from lab.variables import Parameter, RandomState, Sequence, State

__all__ = [
    "RULE",
    "ArgumentError",
    "BroadcastError",
    "Connected",
    "Derivation",
    "Derivative",
    "Disconnected",
    "DotProduct",
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
    "dot_product",
    "gallery",
    "pullback",
    "pushforward",
    "spelled",
    "structural",
    "trace",
    "until",
]
