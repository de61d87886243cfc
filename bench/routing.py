"""Measure the structural primitives on ten million numbers, relative to NumPy.

JVP computes output and tangent, and VJP computes output and cotangents. The time is relative to the
fastest expression in NumPy. The benchmark checks that all expressions return the same numbers.
(For infinite numbers outside the mask, expressions with products would return nan.)
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZE = 10**7
Expression = Callable[[], tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Case:
    """A call of the primitive `name`, and NumPy expressions with the same result."""

    what: str
    name: str
    inputs: Any
    tangents: Any
    cotangent: np.ndarray
    metadata: dict[str, Any]
    jvp: list[Expression]
    vjp: list[Expression]


def chosen(mask, x, y):
    return np.where(mask, x, y)


def blended(mask, x, y):
    return mask * x + ~mask * y


def kept(mask, g):
    return np.where(mask, g, 0.0)


def multiplied(mask, g):
    return mask * g


def where(what, mask, x, y, dx, dy, g):
    return Case(
        what=f"where, {what}",
        name="where",
        inputs=(x, y),
        tangents=(dx, dy),
        cotangent=g,
        metadata={"condition": mask},
        jvp=[lambda f=f: (f(mask, x, y), f(mask, dx, dy)) for f in (chosen, blended)],
        vjp=[
            lambda f=f, k=k: (f(mask, x, y), k(mask, g), k(~mask, g))
            for f in (chosen, blended)
            for k in (kept, multiplied)
        ],
    )


def cat(x, y, dx, dy, g):
    parts, moved = [x[: SIZE // 2], y[SIZE // 2 :]], [dx[: SIZE // 2], dy[SIZE // 2 :]]
    return Case(
        what="cat",
        name="cat",
        inputs=parts,
        tangents=moved,
        cotangent=g,
        metadata={"dim": 0},
        jvp=[lambda: (np.concatenate(parts), np.concatenate(moved))],
        vjp=[lambda: (np.concatenate(parts), *np.split(g, [SIZE // 2]))],
    )


def narrow(x, dx, g):
    start, length = SIZE // 4, SIZE // 2
    cut = slice(start, start + length)

    def scattered():
        found = np.zeros(SIZE)
        found[cut] = g[:length]
        return x[cut], found

    return Case(
        what="narrow",
        name="narrow",
        inputs=(x,),
        tangents=(dx,),
        cotangent=g[:length],
        metadata={"dim": 0, "start": start, "length": length},
        jvp=[lambda: (x[cut], dx[cut])],
        vjp=[scattered],
    )


def clamp(what, x, lo, hi, dx, dlo, dhi, g):
    def regions():
        below, above = x < lo, x > hi
        return ~(below | above), below, above

    def tangent(blend):
        between, below, above = regions()
        if blend:
            return np.clip(x, lo, hi), between * dx + below * dlo + above * dhi
        return np.clip(x, lo, hi), np.where(below, dlo, np.where(above, dhi, dx))

    def cotangents(keep):
        first, *bounds = (keep(region, g) for region in regions())
        if not np.ndim(lo):
            bounds = [part.sum() for part in bounds]
        return np.clip(x, lo, hi), first, *bounds

    return Case(
        what=f"clamp, bounds are {what}",
        name="clamp",
        inputs=(x, lo, hi),
        tangents=(dx, dlo, dhi),
        cotangent=g,
        metadata={},
        jvp=[lambda b=blend: tangent(b) for blend in (False, True)],
        vjp=[lambda k=keep: cotangents(k) for keep in (kept, multiplied)],
    )


def cases():
    rng = np.random.default_rng(0)
    x, y, dx, dy, g = rng.normal(size=(5, SIZE))
    lo, hi = rng.uniform(-1, -0.5, SIZE), rng.uniform(0.5, 1, SIZE)
    numbers = map(np.float64, (-0.7, 0.7))
    yield where("a mixed mask", y > 0.1, x, y, dx, dy, g)
    yield where("a mask of two halves", np.arange(SIZE) < SIZE // 2, x, y, dx, dy, g)
    yield cat(x, y, dx, dy, g)
    yield narrow(x, dx, g)
    yield clamp("arrays", x, lo, hi, dx, dy, g, g)
    yield clamp("numbers", x, *numbers, dx, np.float64(2), np.float64(3), g)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def routing(paired, line):
    """Measure all cases; `paired` and `line` are functions of the benchmark."""
    from lab.structural import primitives

    for case in cases():
        primitive = primitives[case.name]

        def push(p=primitive, c=case):
            return p.jvp(c.inputs, c.tangents, **c.metadata)

        def pull(p=primitive, c=case):
            output, pullback = p.vjp_jax(c.inputs, **c.metadata)
            return output, *pullback(c.cotangent)

        for kind, ours, others in (("JVP", push, case.jvp), ("VJP", pull, case.vjp)):
            for theirs in others:
                for a, b in zip(ours(), theirs(), strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
            pairs = [
                paired(lambda f=ours: seconds(f), lambda f=theirs: seconds(f)) for theirs in others
            ]
            mine, best = min(pairs, key=lambda pair: pair[1])
            if best < 1e-4:  # both return views, so no numbers are moved
                what = f"{kind} of {case.what} : numpy, as views"
                print(f"{what:66} {mine * 1e6:8.1f} µs {best * 1e6:9.1f} µs")
            else:
                line(f"{kind} of {case.what} : numpy", mine, best, "≤ 1.5")
