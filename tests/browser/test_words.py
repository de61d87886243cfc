"""In a real browser: the pictures in words keep their texts in their boxes, and apart."""

import pytest
from in_browser.chromium import measured, pytestmark  # noqa: F401 (marks)
from strange_loops import HOSTILE, LONG, LOOPS, TAPES, derivations_of, derivative_of

from lab.loops import gallery
from lab.tape import Tape
from visual.pictures.connections import connections
from visual.pictures.phases.phases import phases
from visual.pictures.taps import taps


@pytest.mark.parametrize("name", [*gallery.loops, *LOOPS])
def test_no_text_leaves_its_box(page, name):
    scenes = [phases(derivation) for derivation in derivations_of(name, 2)]
    scenes.append(connections(derivative_of(name, 2)))
    for scene in scenes:
        assert measured(page, scene.svg()) == [], scene.title


@pytest.mark.parametrize("name", TAPES)
def test_no_tap_leaves_its_slot(page, name):
    for called in (name, LONG, HOSTILE):
        tapes = {called: TAPES[name], f"{called}2": TAPES[name], "y": Tape((-123456,), (0,))}
        assert measured(page, taps(tapes, 3).svg()) == []


def test_the_measure_sees_what_is_wrong(page):
    svg = connections(derivative_of("square", 1)).svg()
    assert measured(page, svg.replace(">disconnected<", ">disconnected from the cost<"))
