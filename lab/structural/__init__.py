"""Routing gradients: where, cat, narrow and clamp, and their derivatives.

What you can do, and the name for it:

- route arrays: `where`, `cat`, `narrow`, `clamp`
- differentiate one of them: ``primitives["clamp"]``, a `Primitive` with ``jvp``, ``transpose``,
  ``vjp_jax`` and ``vjp_torch``; ``linearize`` gives its `Linearization`, with ``.T``
- differentiate a function made of them: `jvp`, `vjp`; `record` shows it as a `Chain`
- see who goes where: `sources` of a linearization
- see that tapes are made of them: `set_subtensor`, `tape_step`

The inner product is the real Frobenius one, Re sum(conj(a) * b).  Conditions, axes, starts and
lengths are metadata, which is not differentiated.  Arrays that come out are read-only, since
some share memory with what went in.  After "Structural AD Notes".

Start reading in `primitives`: each rule is one function, which returns its tangent and cotangent
maps.  `primitive` says what follows from those, and `chain` composes them: what each function
computes is written there, at `where`, `cat`, `narrow` and `clamp`.  `operands` is what they accept
and how they refuse, `arrays` their operations (`lab.eager` routes with them, too), `sources` who
goes where, and `overwriting` what a tape does with them.
"""

from lab.structural.chain import Chain as Chain
from lab.structural.chain import ChainLinearization as ChainLinearization
from lab.structural.chain import Equation as Equation
from lab.structural.chain import cat as cat
from lab.structural.chain import clamp as clamp
from lab.structural.chain import jvp as jvp
from lab.structural.chain import narrow as narrow
from lab.structural.chain import record as record
from lab.structural.chain import vjp as vjp
from lab.structural.chain import where as where
from lab.structural.overwriting import set_subtensor as set_subtensor
from lab.structural.overwriting import tape_step as tape_step
from lab.structural.primitive import Adjoint as Adjoint
from lab.structural.primitive import Linearization as Linearization
from lab.structural.primitive import Primitive as Primitive
from lab.structural.primitives import primitives as primitives
from lab.structural.sources import Sources as Sources
from lab.structural.sources import sources as sources
