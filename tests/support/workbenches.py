"""Send messages to a workbench as a page does, and open copies of workbenches."""

import json

import pytensor
import pytensor.tensor as pt

import lab


def send(bench, key, value, number=1):
    """Send a change as the browser does, and return the reported problem."""
    bench.receive(json.loads(json.dumps({"number": number, "key": key, "value": value})))
    json.dumps(bench.form, allow_nan=False)
    assert bench.form["answered"] == number
    return bench.form["problem"]["text"]


def control(bench, *key):
    return next(c for c in bench.form["controls"] if c["key"] == list(key))


def rebuild(bench, **names):
    """Return the workbench that the copied cell opens."""
    namespace = dict(names)
    exec(bench.python, namespace)
    return namespace["bench"]


def user_loop():
    return lab.Loop(
        lambda x, u, w: w * x + u,
        states=(lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", [0.1, 0.2, 0.3]),),
        parameters=(lab.Parameter("w", 0.9),),
    )


def sine():
    x0 = pt.dscalar("x0")
    xs = pytensor.scan(lambda x: pt.sin(x), outputs_info=[x0], n_steps=5, return_updates=False)
    return xs[-1], x0
