"""The eager tape: gradients of plain Python functions, written down while they run.

What you can do, and the name for it:

- differentiate, to any order: `grad`, of functions written with `np`, by numbers, arrays, and
  tuples, lists and dicts of them
- teach it a function: `primitive`, with a gradient maker; `D`, with a forward pass
- take a declared loop along: `unrolled`
- watch its tapes fill and empty: `recording`; mark the steps of a loop: `steps`
- look at the parts: `Node`, `Tape`, `Setter`, `value_of`, `zeros_like`, `mutating_add`,
  `take`, `untake`

It is the counterpart of a Scan's tapes, which are laid out before the loop runs.

One simplification: a tape keeps the arrays that an operation was given, not copies of them.
Do not change an array in place after it was used and before the gradient is there.

Start reading in `tape`: it is the whole algorithm.  The rules stand below the functions that they
belong to, in `elementwise`, `shaping`, `routing`, `reductions`, `rearranging` and `linalg`; `rules`
is how a function of numpy gets one, `np` collects them, and `operators` makes signs and methods of
them.  A run is watched by `recorder`, as the frozen data of `records`; `checks` is what is refused.
"""

from lab.eager import np
from lab.eager.recorder import recording, steps
from lab.eager.records import Recording
from lab.eager.shaping import take, untake
from lab.eager.tape import (
    D,
    Node,
    Setter,
    Tape,
    grad,
    mutating_add,
    primitive,
    value_of,
    zeros_like,
)
from lab.eager.unrolled import unrolled

__all__ = [
    "D",
    "Node",
    "Recording",
    "Setter",
    "Tape",
    "grad",
    "mutating_add",
    "np",
    "primitive",
    "recording",
    "steps",
    "take",
    "unrolled",
    "untake",
    "value_of",
    "zeros_like",
]
