"""PyMC models, each with a Scan; tests import this module if PyMC is installed."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.pytensorf import collect_default_updates

from graphs import scan

Y = np.sin(np.arange(8.0))
ZERO, ONE = (pt.constant(number, dtype="float64") for number in (0.0, 1.0))


def ar():
    with pm.Model(name="") as model:
        rho, sigma, x0 = pm.Uniform("rho", -1, 1), pm.HalfNormal("sigma"), pm.Normal("x0")
        start = {"outputs_info": [x0], "non_sequences": [rho], "n_steps": 8}
        pm.Normal("y", scan(lambda x, rho: rho * x, **start, name="ar"), sigma, observed=Y)
    return model


def garch():
    with pm.Model() as model:
        omega, alpha, beta = pm.HalfNormal("omega"), pm.Beta("alpha", 1, 1), pm.Beta("beta", 1, 1)

        def step(r, v, omega, alpha, beta):
            return omega + alpha * r**2 + beta * v

        start = {"outputs_info": [ONE], "non_sequences": [omega, alpha, beta]}
        variance = scan(step, sequences=[pm.Data("r", Y)], **start, name="garch")
        pm.Normal("y", 0, pt.sqrt(variance), observed=Y)
    return model


def hidden_markov():
    with pm.Model() as model:
        chances, mu = pm.Dirichlet("P", np.ones((2, 2))), pm.Normal("mu", [-1, 1], 1)
        emitted = pm.logp(pm.Normal.dist(mu[None], 1), Y[:, None])

        def step(emitted, a, p):
            return pt.logsumexp(a[:, None] + pt.log(p), axis=0) + emitted

        start = {"outputs_info": [emitted[0]], "non_sequences": [chances]}
        forward = scan(step, sequences=[emitted[1:]], **start, name="forward")
        pm.Potential("seen", pt.logsumexp(forward[-1]))
    return model


def custom():
    """Return a model with random steps; PyMC builds another Scan, with taps in another order."""

    def walk(a, b, sigma, size):
        def step(before, last, a, b, sigma):
            x = pm.Normal.dist(a * last + b * before, sigma)
            return x, collect_default_updates([x])

        start = {"initial": pt.zeros(2), "taps": [-2, -1]}
        xs, _ = pytensor.scan(step, outputs_info=[start], non_sequences=[a, b, sigma], n_steps=8)
        return xs

    with pm.Model() as model:
        a, b, sigma = pm.Normal("a"), pm.Normal("b"), pm.HalfNormal("sigma")
        pm.CustomDist("y", a, b, sigma, dist=walk, observed=Y)
    return model


def newest_first():
    """Return a model with the taps in the order -1, -2."""
    with pm.Model() as model:
        a, x = pm.Normal("a"), pm.Normal("x", shape=2)
        start = {"outputs_info": [{"initial": x, "taps": [-1, -2]}], "non_sequences": [a]}
        xs = scan(lambda last, before, a: a * last - before, **start, n_steps=8)
        pm.Normal("y", xs, 1, observed=Y)
    return model


def discrete():
    with pm.Model() as model:
        pm.Bernoulli("b", 0.5)
    return model
