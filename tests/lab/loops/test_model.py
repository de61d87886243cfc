"""Compare log-densities and gradients of PyMC models with PyMC's, and check their names."""

from importlib.util import find_spec

import numpy as np
import pytest

import lab
from lab.errors import ArgumentError, GraphError
from lab.loops.model import log_density
from lab.scans.replacing import scan_nodes
from lab.traces.run import run

pytestmark = [
    pytest.mark.skipif(find_spec("pymc") is None, reason="PyMC is not installed"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
]

MODELS = {
    "ar": {"rho", "x"},  # the state whose initial value is x0
    "garch": {"r", "omega", "alpha", "beta"},
    "hidden_markov": {"P"},
    "custom": {"a", "b", "sigma"},
}


@pytest.fixture(scope="module")
def models():
    from graphs import of_pymc

    return {name: getattr(of_pymc, name)() for name in (*MODELS, "discrete")}


def test_traps_are_reported_only_for_calls_of_the_user():
    """PyMC's own Scans have taps in an order that is a trap in a user's call."""
    from graphs import of_pymc

    assert lab.explain(of_pymc.custom()).traps == ()
    (trap,) = lab.explain(of_pymc.newest_first()).traps
    assert (trap.name, "of x are −1, −2" in trap.message) == ("taps_out_of_order", True)


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_equals_the_gradient_of_pymc(models, name):
    model = models[name]
    density, point = log_density(model), model.initial_point()
    rng = np.random.default_rng(0)
    point = {n: value + 0.3 * rng.normal(size=np.shape(value)) for n, value in point.items()}
    given = density.bind_values(point)
    outputs = [model.logp(), model.dlogp()]  # PyTensor's own pullback; compiled, it takes minutes
    values, _ = run(outputs, given, record=False)
    value, gradient = (values[v] for v in outputs)
    ours = [
        lab.trace(lab.derivative(density.cost, wrt), given).outputs for wrt in density.resolve_wrt()
    ]
    assert np.allclose(ours[0][0], value)
    assert np.allclose(np.concatenate([np.ravel(result[1]) for result in ours]), gradient)


@pytest.mark.parametrize("name", MODELS)
def test_quantities_have_the_names_of_the_model(models, name):
    (node,) = scan_nodes([log_density(models[name]).cost])
    assert {quantity.symbol for quantity in lab.system(node).quantities} >= MODELS[name]


def test_an_explanation_covers_all_free_variables(models):
    explanation = lab.explain(models["garch"])
    assert explanation.wrt == "omega_log__, alpha_logodds__, and beta_logodds__"
    (scan,) = explanation.scans
    assert [str(o.verdict) for o in scan.outcomes].count("connected") == len(scan.outcomes)
    assert lab.explain(models["ar"], "sigma").wrt == "sigma_log__"
    assert lab.explain(models["ar"], ["rho", models["ar"]["x0"]]).wrt == "rho_interval__ and x0"


def test_unknown_variables_raise_errors(models):
    with pytest.raises(ArgumentError, match="wrt = 'tau': the model's variables are omega, alpha"):
        lab.explain(models["garch"], "tau")
    with pytest.raises(ArgumentError, match="given = 'tau'"):
        log_density(models["garch"]).bind_values({"tau": 1.0})
    with pytest.raises(GraphError, match="expected a continuous free variable"):
        lab.explain(models["discrete"])
    import pymc  # imported here, because every worker imports this file

    with pymc.Model() as broken:
        pymc.CustomDist("x", 0.0, logp=lambda value, mu: 1 / 0)
    with pytest.raises(GraphError, match=r"PyMC cannot build the log-density.*ZeroDivisionError"):
        lab.explain(broken)
