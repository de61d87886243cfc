"""Graphs as people have them: explained, traced, verified, compared and drawn in every kind.

Twelve of them in the ordinary suite; `make corpus` takes all, holds the time of pictures, too, and
prints a table of it.
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
from graphs.prints import misplaced, printed

import lab
from lab.errors import LabError
from lab.progress import hide_progress
from visual.drawing.catalogue import PICTURES, PictureKind
from visual.drawing.draw import study_of
from visual.scene.shapes import Scene

ALL = bool(os.environ.get("CORPUS"))
HERE = Path(__file__).parent
# PyTensor 3.0 without C++ gives wrong numbers, its own gradients among them, by FAST_COMPILE
MODE = "FAST_RUN" if pytensor.__version__.startswith("3.0") else "FAST_COMPILE"
ORIGINS = ("documentation", "networks", "series", "numerics", "composed")
WIDE = 840  # pixels of each; a picture is as high as it needs


def module(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"corpus_{name}", HERE / f"{name}.py")
    sys.modules[spec.name] = made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def graphs(origin):
    """The functions of a module that make a graph: those with a name of their own."""
    made = module(origin)
    for name, function in inspect.getmembers(made, inspect.isfunction):
        if function.__module__ == made.__name__ and not inspect.signature(function).parameters:
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


def every(scans):
    """All Scans of a trace, with those in a step; the same Scans are in every step."""
    for scan in scans:
        yield scan
        yield from every(scan.nested[0].scans if scan.nested else ())


def what_happens(cost, wrt, given, seconds):
    """By what was asked for, the sentence with which it was refused; `seconds` get those of kinds.

    Pictures are drawn of one study, as by `visual.export`.
    """
    refused = {}

    def asked(what, function, otherwise=None):
        try:
            return function()
        except LabError as error:
            check_sentence(str(error))
            refused[what] = str(error)
            return otherwise

    told = asked("explain", lambda: str(lab.explain(cost, wrt)))
    assert told is None or told.strip()
    for order in (2, 1):
        derivative = asked(f"order {order}", lambda n=order: lab.derivative(cost, wrt, n))
        if derivative is not None:
            break
    trace = derivative and asked("trace", lambda: lab.trace(derivative, given))
    if trace is not None:
        assert asked("verify", lambda: derivative.verify(trace, MODE), 0.0) < 1e-9
        lines = printed(list(derivative.values))
        assert not any(wrong for scan in every(trace.scans) for wrong in misplaced(scan, lines))
        study = study_of(derivative, given, {})
        for name, kind in PICTURES.items():
            begun = time.process_time()
            scene = asked(name, lambda k=kind: k.draw(study))
            assert scene is None or scene.svg().startswith("<svg")
            assert scene is None or scene.width <= WIDE, (name, scene)
            seconds[name] = time.process_time() - begun
    comparison = asked("compare", lambda: lab.compare(cost, wrt, given))
    if comparison is not None and not comparison.agree:
        refused["agree"] = str(comparison)
    return refused


@pytest.mark.filterwarnings("ignore")  # PyTensor's own, of old ways to write a graph
@pytest.mark.parametrize("name", GRAPHS if ALL else SUITE)
def test_a_graph_of_the_corpus(name, record_property):
    seconds = {}
    with (
        hide_progress(),
        pytensor.config.change_flags(cxx=""),
    ):  # C++ would be compiled for a minute
        refused = what_happens(*GRAPHS[name](), seconds)
    for told, value in (("graph", name), ("seconds", seconds), ("refused", refused)):
        record_property(told, value)
    expected = REFUSED.get(name, {})
    assert refused.keys() == expected.keys(), refused
    for what, words in expected.items():
        assert words in refused[what], what


def test_what_is_refused_is_a_table_of_the_graphs_there_are():
    assert len(GRAPHS) >= 60
    assert set(SUITE) <= GRAPHS.keys()
    assert len(SUITE) == 12
    assert REFUSED.keys() <= GRAPHS.keys()


def careless(*_):
    raise TypeError


def refusing(*_):
    raise LabError("It is not so.")


@pytest.mark.filterwarnings("ignore")
def test_a_graph_that_is_refused_silently_or_wrong_is_found(monkeypatch):
    cost, wrt, given = GRAPHS["numerics.newton_root"]()
    monkeypatch.setattr(lab, "derivative", careless)
    with pytest.raises(TypeError):
        what_happens(cost, wrt, given, {})
    monkeypatch.setattr(lab, "derivative", refusing)
    assert what_happens(cost, wrt, given, {}) == dict.fromkeys(
        ["order 2", "order 1"], "It is not so."
    )
    monkeypatch.setattr(lab, "explain", lambda *_: "")
    with pytest.raises(AssertionError):
        what_happens(cost, wrt, given, {})


def test_a_picture_that_is_too_large_is_found(monkeypatch):
    cost, wrt, given = GRAPHS["numerics.newton_root"]()
    wide = PictureKind(
        "wide", "wider than a column", lambda *_, **__: Scene(WIDE + 1, 9, (), "a", "b")
    )
    monkeypatch.setitem(globals(), "PICTURES", {"wide": wide})
    with pytest.raises(AssertionError, match="wide"), hide_progress():
        what_happens(cost, wrt, given, {})
