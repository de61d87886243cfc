"""Compare the forward derivative of a loop with its pullback: the dot-product test.

    >>> test = lab.dot_product(gallery.loops["square"])
    >>> test.products  # <g, J v> and <J* g, v>, which agree to the last digits
    >>> test.forward, test.backward  # two Traces, which `visual` can draw

J* is the adjoint of J if and only if both products are equal for all tangents v and cotangents g.
Random vectors detect almost every mistake: only a mistake that is orthogonal to these vectors
leaves the products equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from lab.checks import check
from lab.errors import ArgumentError, argument_error, check_choice, check_integer, check_type, quote
from lab.gradients.decisions import PullbackRule
from lab.gradients.forward.pushforward import pushforward
from lab.gradients.status import gradients_or_zeros, is_continuous
from lab.loops.declaration import OF
from lab.loops.loop import Loop
from lab.loops.text.source import choose_name, values_by_name
from lab.loops.variables import as_value
from lab.records import freeze
from lab.scans.replacing import with_tapes
from lab.traces.run import run
from lab.traces.trace import Trace
from lab.traces.tracing import trace


@dataclass(frozen=True, eq=False)
class DotProduct:
    """The forward and reverse derivatives of a loop.

    `tangents` (v) and `gradients` (J* g) map the names of variables to arrays.  `tangent` (J v) and
    `cotangent` (g) are arrays for the state or output `of`.  `forward` and `backward` are the
    traces of J v and J* g.
    """

    of: str
    tangents: Mapping[str, np.ndarray]
    cotangent: np.ndarray
    tangent: np.ndarray
    gradients: Mapping[str, np.ndarray]
    forward: Trace
    backward: Trace

    @property
    def products(self) -> tuple[float, float]:
        """<g, J v> and <J* g, v>, with the real inner product."""
        pairs = [(self.gradients[name], v) for name, v in self.tangents.items()]
        return check.inner([(self.cotangent, self.tangent)]), check.inner(pairs)


def dot_product(
    loop: Loop,
    wrt: Sequence[str] | None = None,
    of: str | None = None,
    tangents: Mapping[str, npt.ArrayLike] | None = None,
    cotangent: npt.ArrayLike | None = None,
    seed: int = 0,
    rule: PullbackRule | None = None,
) -> DotProduct:
    """Differentiate a loop in forward and reverse mode, and compare both derivatives.

    `wrt` names the differentiated variables (default: all real variables), and `of` names a state
    or output (default: the first).  `tangents` maps names of variables to values, and
    `cotangent` has the shape of all values of `of`.  Missing values are random, with seed `seed`.
    `rule` is the rule of the pullback to test (default: the correct rule).

    Raise WrongGradientError if the two products differ by more than 1e-12, or by more than 1e-5 in
    single precision.  The difference is relative, and absolute for products below 1.  Raise
    GradientError if a derivative is undefined, and ArgumentError for an invalid argument or a loop
    with a truncated gradient.
    """
    check_type("loop", loop, Loop, "a lab.Loop")
    if loop.truncate_gradient != -1:
        reason = "expected -1, because a truncated gradient is not the adjoint."
        raise argument_error("truncate_gradient", loop.truncate_gradient, reason)
    graph = loop.build()
    of = choose_name("of", of, graph.outputs, OF)
    (output,) = with_tapes([graph.outputs[of]], rule)
    output.name = of
    seed = check_integer("seed", seed, "0, 1, 2, …", least=0)
    rng = np.random.default_rng(seed)
    moved = graph.select_inputs(wrt, is_continuous)
    expected = "tangents by name, as in {'x': 1.0}"
    tangents = check_type("tangents", {} if tangents is None else tangents, Mapping, expected)
    known = values_by_name("tangents", tangents.items())
    for name in known:
        check_choice("tangents", name, moved, "the differentiated variables are {}.")
    v = {
        n: _given_or_random(f"tangents[{quote(n)}]", known.get(n), graph.given[variable], rng)
        for n, variable in moved.items()
    }

    directions = {name: variable.type(f"d{name}") for name, variable in moved.items()}
    (jv,) = pushforward([output], list(moved.values()), list(directions.values()))
    along = {directions[name]: value for name, value in v.items()}
    forward = trace([jv], {**graph.given, **along}, names=[f"d{of}"])

    values, _ = run([output], graph.given, record=False)
    g = _given_or_random("cotangent", cotangent, values[output], rng)
    seeded = output.type(f"gradient of {of}")
    gradients = gradients_or_zeros({output: seeded}, [*moved.values()])
    titles = [f"gradient of {name}" for name in moved]
    backward = trace(gradients, {**graph.given, seeded: g}, names=titles)

    pulled = dict(zip(moved, backward.outputs, strict=True))
    is_long = all(np.finfo(array.dtype).bits == 64 for array in (g, *v.values()))
    tolerance = 1e-12 if is_long else 1e-5
    check.adjoint(forward.outputs, [g], list(v.values()), list(pulled.values()), tolerance)
    return DotProduct(
        of=of,
        tangents=MappingProxyType(v),
        cotangent=g,
        tangent=forward.outputs[0],
        gradients=MappingProxyType(pulled),
        forward=forward,
        backward=backward,
    )


def _given_or_random(
    name: str, value: object, like: object, rng: np.random.Generator
) -> np.ndarray:
    """Return `value`, or random numbers for None, in the shape and dtype of `like`."""
    form = np.asarray(like)
    given = rng.normal(size=form.shape) if value is None else as_value(value, name)
    array = np.array(given, dtype=form.dtype)
    if array.shape != form.shape:
        raise ArgumentError(f"{name}: the shape is {array.shape}, but should be {form.shape}.")
    return freeze(array)
