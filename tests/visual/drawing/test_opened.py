"""All pictures of a single Scan show the Scan with the result."""

import re

import pytest

import visual
from lab.loops import gallery
from visual.scene.shapes import Text

RESULT = ("tapes", "unrolled", "ssa", "stepgraph")


def holder(trace):
    """The number of the Scan whose tape has the values of the last output."""
    result = trace.outputs[-1].ravel()
    found = [
        number
        for number, scan in enumerate(trace.scans, start=1)
        for tape in scan.held
        for row in tape.final
        if tape.final.size and row.size and (row.ravel()[: result.size] == result[: row.size]).all()
    ]
    return max(found)


def numbers(scene):
    """The numbers of the Scans in the headings, and of the marked small tapes."""
    bold = [(s.size, s.content) for s in scene.walk() if isinstance(s, Text) and s.bold]
    found = [(size, re.match(r"(\d+) · ", content)) for size, content in bold]
    told = [(size, int(match[1])) for size, match in found if match]
    return {n for size, n in told if size > 12}, {n for size, n in told if size == 12}


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["square", "coupled", "rnn"])
@pytest.mark.parametrize("kind", RESULT)
def test_the_scan_that_holds_the_result_is_open(kind, name, order):
    loop = gallery.loops[name]
    wanted = holder(loop.trace(order=order))
    opened, cards = numbers(visual.draw(loop, kind, order=order))
    assert max(opened) == wanted
    assert cards <= {wanted}
    assert numbers(visual.draw(loop, kind, order=order + 1, scan=2))[0] <= {1, 2}


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["square", "coupled", "rnn"])
def test_the_derivation_of_the_result_is_open(name, order):
    loop = gallery.loops[name]
    wanted = holder(loop.trace(order=order))
    drawn = visual.draw(loop, "phases", order=order)
    assert drawn == visual.draw(loop, "phases", order=order, scan=wanted)
    assert order == 1 or drawn != visual.draw(loop, "phases", order=order, scan=wanted - 1)
