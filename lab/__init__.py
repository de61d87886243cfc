"""Scantape's engine: declare loops, differentiate their Scans, trace every read and write.

What you can do, and the name for it:

Loops
- declare one: `Loop`, of `State`, `Sequence`, `Parameter`, `RandomState`, `until`; or take one
  from `gallery.loops`
- read it as equations: `Loop.system`; of a PyTensor graph: `system`
- see what `pytensor.scan` makes of its arguments: `canonical`; what each variable is called:
  `vocabulary`; what becomes of one step, of none and of fewer: `few_steps`

Derivatives
- differentiate backwards, to any order: `derivative`; one Scan alone: `derive`, `pullback`
- differentiate forwards: `pushforward`; hold a loop's two derivatives together: `dot_product`
- ask what becomes of a tap pattern: `Tape.reverse`
- see what every step read and wrote: `trace`; as formulas: `spelled`

Whether they are right
- compile the same graph: `Trace.verify`; finite differences and more: `check`
- hold our pullback against PyTensor's own, and report what differs: `compare`
- break a rule of the derivative and see where it shows: `BROKEN`, `break_rule`; several beside
  the same true one: `truth`

Graphs of your own
- have one explained, with the traps it falls into: `explain`
- see which Scans and which rows of their buffers are left in a compiled function: `compiled`;
  what is lost if the gradient is taken after that: `shortened`

Smaller systems
- route gradients by where, cat, narrow and clamp: `structural`
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
from lab.system import System, system
from lab.tape import Kind, Tape
from lab.trace import ScanTrace, TapeTrace, Trace
from lab.tracing import trace
from lab.variables import Parameter, RandomState, Sequence, State

if TYPE_CHECKING:
    from lab import eager, structural
    from lab.adjoint import DotProduct, dot_product
    from lab.breakage import Breakage, Truth, break_rule, truth
    from lab.breaking import BROKEN, BrokenRule
    from lab.canonical_form import Canonical, canonical
    from lab.comparing import compare
    from lab.comparison import Comparison
    from lab.compiled_graph import Compiled
    from lab.compiling import compiled
    from lab.explanation import Explanation, explain
    from lab.shortening import Shortened, shortened
    from lab.single_step import FewSteps, few_steps
    from lab.tangent import pushforward
    from lab.words import Vocabulary, vocabulary

__all__ = [
    "BROKEN",
    "RULE",
    "ArgumentError",
    "Breakage",
    "BroadcastError",
    "BrokenRule",
    "Canonical",
    "Comparison",
    "Compiled",
    "Connected",
    "Derivation",
    "Derivative",
    "Disconnected",
    "DotProduct",
    "Explanation",
    "FewSteps",
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
    "Shortened",
    "Spelled",
    "State",
    "System",
    "Tape",
    "TapeScan",
    "TapeTrace",
    "ThroughUntraced",
    "Trace",
    "Truth",
    "Undefined",
    "Vocabulary",
    "break_rule",
    "canonical",
    "check",
    "compare",
    "compiled",
    "derivative",
    "derive",
    "dot_product",
    "eager",
    "explain",
    "few_steps",
    "gallery",
    "pullback",
    "pushforward",
    "shortened",
    "spelled",
    "structural",
    "system",
    "trace",
    "truth",
    "until",
    "vocabulary",
]

# Pictures of loops need none of these, and should not wait for them.
_LATER = {
    "adjoint": ("DotProduct", "dot_product"),
    "breakage": ("Breakage", "Truth", "break_rule", "truth"),
    "breaking": ("BROKEN", "BrokenRule"),
    "canonical_form": ("Canonical", "canonical"),
    "comparing": ("compare",),
    "comparison": ("Comparison",),
    "compiled_graph": ("Compiled",),
    "compiling": ("compiled",),
    "explanation": ("Explanation", "explain"),
    "shortening": ("Shortened", "shortened"),
    "single_step": ("FewSteps", "few_steps"),
    "tangent": ("pushforward",),
    "words": ("Vocabulary", "vocabulary"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is imported only when it is asked for."""
        if name in ("eager", "structural"):
            return import_module(f"lab.{name}")
        for module, names in _LATER.items():
            if name in names:
                return getattr(import_module(f"lab.{module}"), name)
        raise AttributeError(f"module 'lab' has no attribute {name!r}")
