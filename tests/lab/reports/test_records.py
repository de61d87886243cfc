"""Records of reports are plain data: pickled and copied they say and show the same."""

import copy
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import known_mistakes, to_compile, to_explain
from graphs.to_compile import GIVEN
from pytensor.graph.traversal import explicit_graph_inputs

import lab
import visual
from lab.loops import gallery
from lab.records import are_equal
from lab.reports.breaking.rules import BROKEN
from lab.reports.tables import as_html

SQUARE, WINDOW = gallery.loops["square"], gallery.loops["window"]
PLAIN = (str, int, float, bool, type(None), np.ndarray, np.generic)


def held(value, place="record"):
    """All that a record holds, with the place where; what is kept for later use included."""
    yield place, value
    if isinstance(value, Mapping):
        parts = {f"{place} key {k!r:.20}": k for k in value}
        parts |= {f"{place}[{k!r:.20}]": v for k, v in value.items()}
    elif isinstance(value, list | tuple | set | frozenset):
        parts = {f"{place}[{number}]": part for number, part in enumerate(value)}
    elif is_dataclass(value) and not isinstance(value, type):
        names = dict.fromkeys([f.name for f in fields(value)] + [*vars(value)])
        parts = {f"{place}.{name}": getattr(value, name) for name in names}
    else:
        parts = {}
    for where, part in parts.items():
        yield from held(part, where)


def strangers(record):
    """Where a record holds something that is no plain data: a function, a variable, a graph."""
    containers = (Mapping, list, tuple, set, frozenset)
    return [
        place
        for place, value in held(record)
        if not isinstance(value, (*PLAIN, Enum, *containers))
        and not (is_dataclass(value) and not isinstance(value, type))
    ]


def compiled():
    outputs = to_compile.two_loops()
    inputs = [v for v in explicit_graph_inputs(outputs) if v.name in GIVEN]
    return lab.compiled(outputs, given={v: GIVEN[v.name] for v in inputs})


def explained():
    return lab.explain(*to_explain.of_input())


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


def str_of_details(record):
    return str(record.details)


def as_page(record):
    return as_html(record.document)


PICTURES = {
    "explanation": (as_page, str_of_details),
    "comparison": (as_page,),
    "a comparison that differs": (as_page,),
    "compiled": (as_page,),
    "compiled with a gradient": (as_page,),
    "breakage": (lambda record: visual.machine(record).scene(),),
    "canonical": (as_page,),
}


def shown(name, record):
    """The text of a record, its report, and its pictures and pages."""
    yield str(record)
    if hasattr(record, "report"):
        yield record.report()
    for draw in PICTURES.get(name, ()):
        drawn = draw(record)
        yield drawn if isinstance(drawn, str) else drawn.svg()


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_plain_data(name):
    record = RECORDS[name]()
    before = [*shown(name, record)]
    assert strangers(record) == []
    for twin in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
        assert twin is not record
        assert are_equal(twin, record)
        assert strangers(twin) == []
        assert [*shown(name, twin)] == before


@dataclass(frozen=True)
class Impure:
    first: object
    rest: tuple = ()


@pytest.mark.parametrize(
    "stranger",
    [
        lambda: 1,
        len,
        partial(max, 1),
        "".join,
        pt.dscalar("x"),
        pt.dscalar("x").type,
        (2 * pt.dscalar("x")).owner,
        BROKEN["swapped-taps"].rule,
        SimpleNamespace(x=1),
        SQUARE.step,
        Impure,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_data_is_found(stranger):
    plain = Impure("a", (np.ones(2), {"b": 1.0}))
    assert strangers(plain) == []
    for record in (Impure(stranger), Impure("a", (1, {"b": stranger})), Impure("a", ([stranger],))):
        assert strangers(record) != []
    kept = Impure("a")
    vars(kept)["kept"] = stranger
    assert strangers(kept) != []
