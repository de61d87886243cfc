"""The operations where, cat, narrow, and clamp, which only move entries, and their derivatives.

- `where`, `cat`, `narrow`, and `clamp` route arrays
- ``primitives["clamp"]`` is a `Primitive` with ``jvp``, ``transpose``, ``vjp_jax``, ``vjp_torch``,
  and ``linearize``, which returns a `Linearization` with ``.T``
- `jvp` and `vjp` differentiate a function of these operations
- `sources` lists the input entry of every output entry
- `set_subtensor` and `tape_step` express tapes with these operations

The inner product is the real Frobenius product, Re sum(conj(a) * b).  Conditions, axes, starts, and
lengths are metadata without derivatives.  Results are read-only, because some share memory with an
input.  Source: "Structural AD Notes".

Start with `primitives`: each rule is a function that returns its tangent and cotangent maps.
`primitive` derives all other methods from these maps, and defines `sources`, which finds the input
entry that each output entry copies.  `chain` composes primitives and defines `where`, `cat`,
`narrow`, and `clamp`.  `operands` raises ArgumentError for invalid arguments, and `overwriting`
models tapes.
"""

from lab.retired import RETIRED_NAMES, retired_attribute
from lab.structural.chain import cat as cat
from lab.structural.chain import clamp as clamp
from lab.structural.chain import jvp as jvp
from lab.structural.chain import narrow as narrow
from lab.structural.chain import vjp as vjp
from lab.structural.chain import where as where
from lab.structural.overwriting import set_subtensor as set_subtensor
from lab.structural.overwriting import tape_step as tape_step
from lab.structural.primitive import Adjoint as Adjoint
from lab.structural.primitive import Linearization as Linearization
from lab.structural.primitive import Primitive as Primitive
from lab.structural.primitive import Sources as Sources
from lab.structural.primitive import sources as sources
from lab.structural.primitives import primitives as primitives


def __getattr__(name: str) -> object:
    if f"structural.{name}" in RETIRED_NAMES:
        raise retired_attribute(f"structural.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
