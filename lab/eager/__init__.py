"""The eager tape: gradients of plain Python functions, written down while they run.

What you can do, and the name for it:

- differentiate, to any order: `grad`, of functions written with `np`, wrt real numbers and arrays
- teach it a function: `primitive`, with a gradient maker; `D`, with a forward pass
- take a declared loop along: `unrolled`
- watch its tapes fill and empty: `recording`, and `lab.events` of it; mark the steps of a loop:
  `steps`
- look at the parts: `Node`, `Tape`, `Setter`, `value_of`, `zeros_like`, `mutating_add`,
  `take`, `untake`

It is the counterpart of a Scan's tapes, which are laid out before the loop runs.

One simplification: a tape keeps the arrays that an operation was given, not copies of them.
Do not change an array in place after it was used and before the gradient is there.

Start reading in `tape`: it is the whole algorithm.  The rules stand below the functions that they
belong to, in `elementwise`, `shaping`, `routing`, `reductions` and `products`; `rules`
is how a function of numpy gets one, `np` collects them, and `operators` makes signs and methods of
them.  A run is watched by `recorder`, as the frozen data of `records`; `checks` is what is refused.
"""

from lab.eager import np as np
from lab.eager.recorder import recording as recording
from lab.eager.recorder import steps as steps
from lab.eager.records import Recording as Recording
from lab.eager.shaping import take as take
from lab.eager.shaping import untake as untake
from lab.eager.tape import D as D
from lab.eager.tape import Node as Node
from lab.eager.tape import Setter as Setter
from lab.eager.tape import Tape as Tape
from lab.eager.tape import grad as grad
from lab.eager.tape import mutating_add as mutating_add
from lab.eager.tape import primitive as primitive
from lab.eager.tape import value_of as value_of
from lab.eager.tape import zeros_like as zeros_like
from lab.eager.unrolled import unrolled as unrolled
