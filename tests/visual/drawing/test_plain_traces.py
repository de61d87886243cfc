"""Pictures are drawn from plain data: copies of a trace draw the same, damaged ones are refused."""

import copy
import json
import pickle
import random
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from fuzzing.mutations import altered
from fuzzing.outcomes import SEEDS

import lab
import visual
from lab.loops.gallery import loops

PICTURES = (
    visual.tapes,
    visual.moment,
    visual.ssa,
    visual.taps,
    visual.unrolled,
    visual.rolled,
    visual.genealogy,
    visual.stepgraph,
)
TRACES = [("square", 2), ("gap", 1), ("rnn", 1), ("coupled", 1), ("window", 2), ("walk", 0)]
PLAIN = (str, int, float, bool, type(None), np.ndarray, np.generic)


def drawn(trace, picture):
    try:
        return picture(trace).svg()
    except lab.LabError as error:  # tapes of order 0, for example
        return str(error)


def strangers(value, place="trace"):
    """Places at which something else than plain data stands."""
    if is_dataclass(value):
        for field in fields(value):
            yield from strangers(getattr(value, field.name), f"{place}.{field.name}")
        kept = set(vars(value)) - {field.name for field in fields(value)}
        for name in kept:
            yield from strangers(vars(value)[name], f"{place}.{name}")
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            yield from strangers(item, f"{place}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strangers(item, f"{place}[{key}]")
    elif not isinstance(value, PLAIN):
        yield place


@pytest.mark.parametrize("name", sorted(loops))
def test_a_trace_and_a_derivation_hold_nothing_but_data(name):
    derivative = loops[name].derivative(1)
    trace = lab.trace(derivative)
    for picture in PICTURES:
        drawn(trace, picture)  # what a picture keeps in a trace is plain as well
    assert list(strangers(trace)) == []
    (derivation,) = (d for n in derivative.genealogy if (d := n.node.op.derivation))
    assert list(strangers(derivation.record)) == []


def test_the_walker_sees_a_function_and_a_variable():
    trace = loops["square"].trace()
    scan = replace(trace.scans[0], formulas=lambda: ())
    wrong = replace(trace, scans=(scan,), inputs=(loops["square"].build().node.outputs[0],))
    assert list(strangers(wrong)) == ["trace.scans[0].formulas", "trace.inputs[0]"]


@pytest.mark.parametrize(("name", "order"), TRACES)
def test_copies_draw_the_same(name, order):
    trace = loops[name].trace(order)
    stored = json.loads(json.dumps(trace.to_json(), allow_nan=False))
    copies = pickle.loads(pickle.dumps(trace)), copy.deepcopy(trace), lab.Trace.from_json(stored)
    for picture in PICTURES:
        expected = drawn(trace, picture)
        for again in copies:
            assert again == trace
            assert drawn(again, picture) == expected


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", SEEDS)
def test_an_altered_trace_draws_or_is_refused_by_its_place(seed):
    """See `make fuzz` for more of them."""
    chance = random.Random(seed)
    traces = {}
    for name, order in TRACES:
        trace = loops[name].trace(order)
        pictures = [p for p in PICTURES if drawn(trace, p).startswith("<svg")]
        traces[name] = trace.to_json(), pictures
    outcomes = {"drawn": 0, "refused": 0}
    for _ in range(150):
        stored, pictures = traces[chance.choice(sorted(traces))]
        data, what = altered(stored, chance)
        try:
            trace = lab.Trace.from_json(data)
        except lab.LabError as error:
            told = str(error)
        else:
            assert chance.choice(pictures)(trace).svg().startswith("<svg"), what
            outcomes["drawn"] += 1
            continue
        assert told.startswith("from_json: "), what
        assert "\n" not in told, what
        outcomes["refused"] += 1
    assert min(outcomes.values()) > 10, outcomes


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda t: t["scans"][1]["tapes"][0].update(reads=[]), "scans[1].tapes[0].reads"),
        (lambda t: t["scans"][0].update(steps="four"), "scans[0].steps"),
        (lambda t: t["scans"][1].update(parent=1), "scans[1].parent"),
        (lambda t: t["scans"][1]["sequences"][0].pop("axis"), "scans[1].sequences[0]"),
        (lambda t: t.update(version=1), "version = 1"),
        (lambda t: t.pop("version"), "no version"),
        (lambda t: t.update(version=True), "version = True"),
        (lambda t: t.update(more=1), "more"),
    ],
)
def test_the_place_is_told(change, place):
    stored = loops["square"].trace().to_json()
    change(stored)
    with pytest.raises(lab.LabError) as caught:
        lab.Trace.from_json(stored)
    assert place in str(caught.value)


def test_what_is_nested_without_end_is_refused():
    stored = loops["square"].trace().to_json()
    formula = stored["scans"][0]["formulas"][0]
    for _ in range(5000):
        formula["expression"] = {
            "is": "Call",
            "name": "Neg",
            "arguments": [formula["expression"]],
        }
    with pytest.raises(lab.LabError, match="nested too deeply"):
        lab.Trace.from_json(stored)


def test_a_changed_number_still_draws():
    stored = loops["square"].trace().to_json()
    tape = stored["scans"][1]["tapes"][0]["writes"][0]["values"]
    tape["numbers"] = ["nan", 1e300, 0.0, -1e-300][: len(tape["numbers"])]
    assert visual.tapes(lab.Trace.from_json(stored)).svg().startswith("<svg")
