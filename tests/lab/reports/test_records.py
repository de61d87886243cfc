"""Records of reports are plain data: a pickled copy has the same text and pages."""

import copy
import pickle
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import known_mistakes, to_compile
from graphs.to_compile import GIVEN
from graphs.to_explain import GRAPHS
from plain import impurities
from pytensor.graph.traversal import explicit_graph_inputs

import lab
import visual
from lab.loops import gallery
from lab.records import are_equal
from lab.reports.breaking.breakage import Breakage
from lab.reports.tables import as_html

SQUARE, WINDOW = gallery.loops["square"], gallery.loops["window"]


def compiled():
    outputs = [to_compile.output_of("two_loops")]
    inputs = [v for v in explicit_graph_inputs(outputs) if v.name in GIVEN]
    return lab.compiled(outputs, given={v: GIVEN[v.name] for v in inputs})


def explained():
    return lab.explain(*GRAPHS["of input"][0]())


RECORDS = {
    "explanation": explained,
    "a scan explained": lambda: explained().scans[0],
    "comparison": lambda: lab.compare(SQUARE, order=2),
    "a comparison that differs": lambda: lab.compare(*known_mistakes.undefined_twice()),
    "compiled": compiled,
    "compiled with a gradient": lambda: lab.compiled(SQUARE, wrt="x"),
    "a scan after": lambda: compiled().after[0],
    "breakage": lambda: lab.break_rule(SQUARE, "accumulate-overwritten", order=2),
    "canonical": lambda: lab.canonical(WINDOW),
}


def texts(record):
    """Yield the text and the page of a record, and the picture of a faulty rule."""
    yield str(record)
    yield as_html(record.document)
    if isinstance(record, Breakage):
        yield visual.machine(record).scene().svg()


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_plain_data(name):
    record = RECORDS[name]()
    before = [*texts(record)]
    assert [*impurities(record)] == []
    for twin in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
        assert twin is not record
        assert are_equal(twin, record)
        assert [*impurities(twin)] == []
        assert [*texts(twin)] == before


@dataclass(frozen=True)
class Impure:
    first: object
    rest: tuple = ()


def test_the_checker_detects_impurities():
    assert [*impurities(Impure("a", (np.ones(2), {"b": 1.0})))] == []
    x = pt.dscalar("x")
    for impurity in (len, partial(max, 1), x, x.type, (2 * x).owner, SimpleNamespace(x=1), Impure):
        cached = Impure("a")
        vars(cached)["cached"] = impurity
        for record in (Impure(impurity), Impure("a", (1, {"b": [impurity]})), cached):
            assert [*impurities(record)] != []
