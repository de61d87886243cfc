"""Scans in the steps of Scans: each function returns a cost and its inputs."""

import pytensor.tensor as pt

from graphs import scan


def two_levels(outer=3, inner=4):
    x0, a = pt.dscalar("x0"), pt.dscalar("a")

    def step(x, a):
        ys = scan(
            lambda y, x, a: pt.sin(y) * a + x,
            outputs_info=[x],
            non_sequences=[x, a],
            n_steps=inner,
            name="inner",
        )
        return ys[-1]

    xs = scan(step, outputs_info=[x0], non_sequences=[a], n_steps=outer, name="outer")
    return xs[-1], x0, a


def three_levels():
    x0, a = pt.dscalar("x0"), pt.dscalar("a")

    def middle(y, x, a):
        zs = scan(
            lambda z, y: z * y, outputs_info=[a], non_sequences=[y], n_steps=2, name="innermost"
        )
        return pt.sin(zs[-1]) + x

    def step(x, a):
        return scan(middle, outputs_info=[x], non_sequences=[x, a], n_steps=3, name="inner")[-1]

    xs = scan(step, outputs_info=[x0], non_sequences=[a], n_steps=3, name="outer")
    return xs[-1], x0, a
