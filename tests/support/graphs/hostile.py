"""Graphs with hostile names, and with an operation that no report knows."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.op import Op

EVIL = "x'; open('pwned', 'w')\nopen('pwned', 'w') #\\\"\u2028\x0c"


def hostile_graph(name):
    x = pt.TensorType("float64", shape=())(name)
    xs = pytensor.scan(lambda x: x**2, outputs_info=[x], n_steps=3, return_updates=False, name=name)
    cost = xs[-1]
    cost.name = name
    return cost, x


class Strange(Op):
    """An operation that no report knows."""

    __props__ = ()

    def make_node(self, x):
        return pytensor.graph.basic.Apply(self, [x], [x.type(name=EVIL)])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(inputs[0] * 3.0)

    def pullback(self, inputs, outputs, gradients):
        return [2 * gradients[0]]


def strange():
    """`(cost, wrt, given)` with a wrong gradient, and of an operation of one's own."""
    cost, x = hostile_graph(EVIL)
    return Strange()(cost), x, {x: 0.9}


def strange_without_values():
    """`(cost, wrt)`: values of a known shape are made up."""
    cost, x, _ = strange()
    return cost, x


def strange_and_shared():
    """`(cost, wrt)` with a gradient by a shared variable."""
    x = pytensor.shared(0.9, name="x")
    xs = pytensor.scan(lambda x: x**2, outputs_info=[x], n_steps=3, return_updates=False)
    return Strange()(xs[-1]), x
