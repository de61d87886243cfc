"""The eager tape: gradients of plain Python functions, from operations recorded at run time.

- `grad` differentiates functions that use `np`, wrt real numbers and arrays, to any order
- `primitive` and `D` add a function, with a gradient maker or a forward pass
- `unrolled` converts a declared loop to a Python function
- `recording` records the tapes of a run, and `lab.events` lists its events; `steps` marks the
  steps of a loop
- `Node`, `Tape`, `Setter`, `value_of`, `zeros_like`, `mutating_add`, `take`, and `untake` are the
  parts of the algorithm

An eager tape grows during the run, but the tapes of a Scan exist before the loop runs.

A tape stores the arguments of an operation without a copy.  After an operation has used an
array, do not change the array in place until the gradient is computed.

Start with `tape`, which contains the whole algorithm.  `elementwise`, `shaping`, and `products`
contain the functions with their rules.  `np` collects the registered functions of numpy, and
`operators` defines the operators and methods of a node.  `recorder` records a run as the frozen
data of `records`.  `checks` checks arguments and results.
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
