"""Differentiate, explain, trace, verify, compare, and draw graphs like the graphs of users."""

import inspect
import os
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytensor
import pytest
from fuzzing.outcomes import check_sentence
from oracles import check_orders
from pytensor.compile.mode import Mode

import lab
from lab.checks.check import value_at
from lab.errors import LabError
from lab.progress import hide_progress
from visual.drawing.catalogue import PICTURES
from visual.drawing.study import study_of
from visual.scene.shapes import Scene

# Use all rewrites but no compiler; Numba would compile for two minutes. Without rewrites,
# PyTensor 3.0 computes wrong gradients.
MODE = Mode("py", "fast_run")
PLAIN = Mode("py", None)
ORIGINS = ("documentation", "models", "composed")
WIDEST = 840  # pixels


def graphs(origin):
    """Yield the name and the function of each graph that a file builds."""
    names = run_path(str(Path(__file__).with_name(f"{origin}.py")), run_name=origin)
    for name, function in names.items():
        is_own = inspect.isfunction(function) and function.__module__ == origin
        if is_own and not inspect.signature(function).parameters:
            yield name, function


GRAPHS = {name: function for origin in ORIGINS for name, function in graphs(origin)}
# The actions that raise an error for each graph, with words of the message. All others work.
NO_STATE = {"influence": "no state is real"}
ONLY_REAL = "expected a real floating-point variable"
COMPLEX = "PyTensor has no gradient of complex variables"
ERRORS = {
    "polynomial": NO_STATE,
    "jacobian": NO_STATE,
    "one_step": NO_STATE,
    "no_step": {
        "machine": "expected a run with at least one step",
        "influence": "runs 0 steps",
        "stepgraph": "runs 0 steps",
    },
    "independent_cost": {
        "ssa": "a loop overwrites no slot",
        "phases": "no Scan of this graph is a pullback",
    },
    "integer_state": dict.fromkeys(("explain", "order 2", "order 1", "compare"), ONLY_REAL),
    "complex_state": dict.fromkeys(("order 2", "order 1"), COMPLEX),
    # PyTensor's own pullback fails if a generator has a gradient
    "random_walk": {"agree": "agree with ours"},
}
# `make test` draws these graphs, and `make corpus` draws all of them.
SUITE = (
    *("polynomial", "sequence_taps", "double_until", "kalman", "noise", "a_batch"),
    *("a_loop_in_a_step", "no_step", "complex_state"),
)
DIFFERENTIABLE = [name for name in GRAPHS if "order 1" not in ERRORS.get(name, {})]


@pytest.mark.filterwarnings("ignore")  # PyTensor warns about deprecated calls
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_values_and_derivatives(name):
    """Compare the value with PyTensor, and two derivatives with finite differences."""
    cost, wrt, given = GRAPHS[name]()
    with hide_progress(), pytensor.config.change_flags(cxx="", mode="FAST_COMPILE"):
        check_orders(cost, wrt, given)
        np.testing.assert_allclose(value_at(cost, given), cost.eval(given, mode=PLAIN), rtol=1e-12)


def error_messages(cost, wrt, given):
    """Return the error message of each action that fails. All pictures of a graph share a study."""
    errors = {}

    def attempt(action, function, otherwise=None):
        try:
            return function()
        except LabError as error:
            check_sentence(str(error))
            errors[action] = str(error)
            return otherwise

    report = attempt("explain", lambda: str(lab.explain(cost, wrt)))
    assert report is None or report.strip()
    for order in (2, 1):
        derivative = attempt(f"order {order}", lambda n=order: lab.derivative(cost, wrt, n))
        if derivative is not None:
            break
    trace = derivative and attempt("trace", lambda: lab.trace(derivative, given))
    if trace is not None:
        assert attempt("verify", lambda: derivative.verify(trace, MODE), 0.0) < 1e-9
        study = study_of(derivative, given)
        for name, kind in PICTURES.items():
            scene = attempt(name, lambda k=kind: k.draw(study))
            assert scene is None or scene.svg().startswith("<svg")
            assert scene is None or scene.width <= WIDEST, (name, scene)
    comparison = attempt("compare", lambda: lab.compare(cost, wrt, given))
    if comparison is not None and not comparison.agree:
        errors["agree"] = str(comparison)
    return errors


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GRAPHS if os.environ.get("CORPUS") else SUITE)
def test_a_graph_is_drawn_or_raises_the_listed_errors(name):
    with hide_progress(), pytensor.config.change_flags(cxx=""):  # C++ would compile for a minute
        errors = error_messages(*GRAPHS[name]())
    expected = ERRORS.get(name, {})
    assert errors.keys() == expected.keys(), errors
    for action, words in expected.items():
        assert words in errors[action], action


def test_the_checker_notices_wrong_values_pictures_and_messages(monkeypatch):
    graph, trace = GRAPHS["polynomial"](), lab.trace

    def unreadable(_):
        raise LabError("two\nlines")

    for draw in (lambda _: Scene(WIDEST + 1, 9, (), "", ""), unreadable):
        monkeypatch.setitem(globals(), "PICTURES", {"faulty": SimpleNamespace(draw=draw)})
        with pytest.raises(AssertionError):
            error_messages(*graph)
    monkeypatch.setitem(globals(), "PICTURES", {})
    assert error_messages(*graph) == {}
    monkeypatch.setattr(lab, "compare", lambda *_: SimpleNamespace(agree=False))
    assert error_messages(*graph).keys() == {"agree"}
    monkeypatch.setattr(lab, "trace", lambda *graph: replace(trace(*graph), outputs=(0.0,) * 3))
    with pytest.raises(AssertionError):
        error_messages(*graph)


def test_the_tables_name_existing_graphs():
    assert len(GRAPHS) >= 30
    assert {*SUITE, *ERRORS} <= GRAPHS.keys()
