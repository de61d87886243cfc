"""A loop, a graph, and a PyMC model with the names that documents and `--help` use."""

import pytensor.tensor as pt

import lab
from graphs import scan


def myloop():
    return lab.Loop.from_text("r*x*(1 - x)", {"x": 0.3}, {}, {"r": 3.0}, n_steps=3)


def mygraph():
    x = pt.dscalar("x")
    roots = scan(lambda x: pt.sqrt(x) - 0.5, outputs_info=[x], n_steps=3)
    return roots[-1], x, {x: 0.16}  # a nan at the last step


def mymodel():
    from graphs.of_pymc import ar  # imported here, because PyMC is large and may be missing

    return ar()


function, graph, model = myloop, mygraph, mymodel
