"""Pictures use plain data: a copy of a trace gives the same picture."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import lab
import visual
from lab.loops.gallery import loops

PICTURES = (
    visual.tapes,
    visual.ssa,
    visual.taps,
    visual.unrolled,
    visual.genealogy,
    visual.stepgraph,
)
PLAIN = (str, int, float, bool, type(None), np.ndarray, np.generic)


def drawn(trace, picture):
    try:
        return picture(trace).svg()
    except lab.LabError as error:  # tapes of order 0, for example
        return str(error)


def strangers(value, place="trace"):
    """The paths of values that are not plain data."""
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
        drawn(trace, picture)  # data that a picture caches in a trace is plain, too
    assert list(strangers(trace)) == []
    (derivation,) = (d for n in derivative.genealogy if (d := n.node.op.derivation))
    assert list(strangers(derivation.record)) == []


def test_a_function_and_a_variable_are_detected():
    trace = loops["square"].trace()
    scan = replace(trace.scans[0], formulas=lambda: ())
    wrong = replace(trace, scans=(scan,), inputs=(loops["square"].build().node.outputs[0],))
    assert list(strangers(wrong)) == ["trace.scans[0].formulas", "trace.inputs[0]"]
