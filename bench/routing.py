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

    label: str
    name: str
    inputs: Any
    tangents: Any
    cotangent: np.ndarray
    metadata: dict[str, Any]
    jvp: list[Expression]
    vjp: list[Expression]


def with_where(mask, x, y):
    return np.where(mask, x, y)


def with_products(mask, x, y):
    return mask * x + ~mask * y


def masked_where(mask, g):
    return np.where(mask, g, 0.0)


def masked_product(mask, g):
    return mask * g


def where(label, mask, x, y, dx, dy, g):
    return Case(
        label=f"where, {label}",
        name="where",
        inputs=(x, y),
        tangents=(dx, dy),
        cotangent=g,
        metadata={"condition": mask},
        jvp=[lambda f=f: (f(mask, x, y), f(mask, dx, dy)) for f in (with_where, with_products)],
        vjp=[
            lambda f=f, k=k: (f(mask, x, y), k(mask, g), k(~mask, g))
            for f in (with_where, with_products)
            for k in (masked_where, masked_product)
        ],
    )


def cat(x, y, dx, dy, g):
    parts, moved = [x[: SIZE // 2], y[SIZE // 2 :]], [dx[: SIZE // 2], dy[SIZE // 2 :]]
    return Case(
        label="cat",
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
        cotangent = np.zeros(SIZE)
        cotangent[cut] = g[:length]
        return x[cut], cotangent

    return Case(
        label="narrow",
        name="narrow",
        inputs=(x,),
        tangents=(dx,),
        cotangent=g[:length],
        metadata={"dim": 0, "start": start, "length": length},
        jvp=[lambda: (x[cut], dx[cut])],
        vjp=[scattered],
    )


def clamp(label, x, lo, hi, dx, dlo, dhi, g):
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
        label=f"clamp, bounds are {label}",
        name="clamp",
        inputs=(x, lo, hi),
        tangents=(dx, dlo, dhi),
        cotangent=g,
        metadata={},
        jvp=[lambda b=blend: tangent(b) for blend in (False, True)],
        vjp=[lambda k=keep: cotangents(k) for keep in (masked_where, masked_product)],
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


def measure(medians, report):
    """Measure all cases; `medians` and `report` are functions of the benchmark."""
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
                medians(lambda f=ours: seconds(f), lambda f=theirs: seconds(f)) for theirs in others
            ]
            mine, best = min(pairs, key=lambda pair: pair[1])
            if best < 1e-4:  # both return views, so no numbers are moved
                label = f"{kind} of {case.label} : numpy, as views"
                print(f"{label:66} {mine * 1e6:8.1f} µs {best * 1e6:9.1f} µs")
            else:
                report(f"{kind} of {case.label} : numpy", mine, best, "≤ 1.5")
