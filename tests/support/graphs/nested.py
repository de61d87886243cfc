"""Scans in the steps of Scans: each function returns a cost and its inputs."""

import pytensor.tensor as pt

from graphs import scan


def two_levels(outer=3, inner=4):
    x0, a = pt.dscalar("x0"), pt.dscalar("a")

    def step(x, a):
        start = {"outputs_info": [x], "non_sequences": [x, a], "n_steps": inner}
        return scan(lambda y, x, a: pt.sin(y) * a + x, **start, name="inner")[-1]

    xs = scan(step, outputs_info=[x0], non_sequences=[a], n_steps=outer, name="outer")
    return xs[-1], x0, a


def three_levels():
    x0, a = pt.dscalar("x0"), pt.dscalar("a")

    def middle(y, x, a):
        start = {"outputs_info": [a], "non_sequences": [y], "n_steps": 2}
        return pt.sin(scan(lambda z, y: z * y, **start, name="innermost")[-1]) + x

    def step(x, a):
        return scan(middle, outputs_info=[x], non_sequences=[x, a], n_steps=3, name="inner")[-1]

    xs = scan(step, outputs_info=[x0], non_sequences=[a], n_steps=3, name="outer")
    return xs[-1], x0, a
