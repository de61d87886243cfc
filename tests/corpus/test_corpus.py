"""Explain, trace, verify, compare, and draw graphs that users write.

`make test` runs twelve graphs. `make corpus` runs all of them, and prints the time of their
pictures and the refusals.
"""

import importlib.util
import inspect
import os
import sys
import time
from pathlib import Path

import pytensor
import pytest
from fuzzing.outcomes import check_sentence
from pytensor.compile.mode import Mode

import lab
from lab.errors import LabError
from lab.progress import hide_progress
from visual.drawing.catalogue import PICTURES, PictureKind
from visual.drawing.draw import study_of
from visual.scene.shapes import Scene

ALL = bool(os.environ.get("CORPUS"))
HERE = Path(__file__).parent
# All rewrites, but no compiler: Numba would compile for two minutes. Without rewrites, PyTensor 3.0
# computes wrong gradients.
MODE = Mode("py", "fast_run")
ORIGINS = ("documentation", "networks", "series", "numerics", "composed")
WIDEST = 840  # pixels


def module(name):
    """Import a file of this folder, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"corpus_{name}", HERE / f"{name}.py")
    sys.modules[spec.name] = loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def graphs(origin):
    """Yield the functions of a file that build a graph: the functions without parameters."""
    loaded = module(origin)
    for name, function in inspect.getmembers(loaded, inspect.isfunction):
        if function.__module__ == loaded.__name__ and not inspect.signature(function).parameters:
            yield f"{origin}.{name}", function


GRAPHS = {name: function for origin in ORIGINS for name, function in graphs(origin)}
REFUSED = module("refused").REFUSED
SUITE = (
    "documentation.power_of_unknown_steps",
    "documentation.polynomial",
    "documentation.sequence_taps",
    "documentation.double_until",
    "networks.residual",
    "series.kalman",
    "numerics.newton_root",
    "numerics.noise",
    "composed.a_batch",
    "composed.a_loop_in_a_step",
    "composed.of_no_step",
    "composed.through_complex_numbers",
)


def refusals(cost, wrt, given, seconds):
    """Return the message of each refused action; write the seconds of each picture to `seconds`.

    All pictures share a study, as in `visual.export`.
    """
    refused = {}

    def attempt(action, function, otherwise=None):
        try:
            return function()
        except LabError as error:
            check_sentence(str(error))
            refused[action] = str(error)
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
        study = study_of(derivative, given, {})
        for name, kind in PICTURES.items():
            start = time.process_time()
            scene = attempt(name, lambda k=kind: k.draw(study))
            assert scene is None or scene.svg().startswith("<svg")
            assert scene is None or scene.width <= WIDEST, (name, scene)
            seconds[name] = time.process_time() - start
    comparison = attempt("compare", lambda: lab.compare(cost, wrt, given))
    if comparison is not None and not comparison.agree:
        refused["agree"] = str(comparison)
    return refused


@pytest.mark.filterwarnings("ignore")  # PyTensor warns of old ways to write a graph
@pytest.mark.parametrize("name", GRAPHS if ALL else SUITE)
def test_a_graph_is_drawn_or_refused(name, record_property):
    seconds = {}
    with hide_progress(), pytensor.config.change_flags(cxx=""):  # C++ would compile for a minute
        refused = refusals(*GRAPHS[name](), seconds)
    for key, value in (("graph", name), ("seconds", seconds), ("refused", refused)):
        record_property(key, value)
    expected = REFUSED.get(name, {})
    assert refused.keys() == expected.keys(), refused
    for action, words in expected.items():
        assert words in refused[action], action


def test_the_tables_name_existing_graphs():
    assert len(GRAPHS) >= 30
    assert {*SUITE, *REFUSED} <= GRAPHS.keys()


def raise_type_error(*_):
    raise TypeError


def refuse(*_):
    raise LabError("This is an error.")


@pytest.mark.filterwarnings("ignore")
def test_wrong_errors_reports_and_sizes_are_detected(monkeypatch):
    cost, wrt, given = GRAPHS["numerics.newton_root"]()
    wide = PictureKind("wide", "too wide", lambda *_, **__: Scene(WIDEST + 1, 9, (), "a", "b"))
    with monkeypatch.context() as patch, hide_progress():
        patch.setitem(globals(), "PICTURES", {"wide": wide})
        with pytest.raises(AssertionError, match="wide"):
            refusals(cost, wrt, given, {})
    monkeypatch.setattr(lab, "derivative", raise_type_error)
    with pytest.raises(TypeError):
        refusals(cost, wrt, given, {})
    monkeypatch.setattr(lab, "derivative", refuse)
    assert refusals(cost, wrt, given, {}) == dict.fromkeys(
        ["order 2", "order 1"], "This is an error."
    )
    monkeypatch.setattr(lab, "explain", lambda *_: "")
    with pytest.raises(AssertionError):
        refusals(cost, wrt, given, {})
