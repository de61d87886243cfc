"""Pictures fit where they are seen: a column of 840 pixels, a screen of 1,200, readable text."""

from dataclasses import replace

import pytest
from routing_pictures import DRAWN, LARGE

import visual
from lab.loops import gallery
from visual.scene.shapes import Scene, Text

pytestmark = pytest.mark.sizes

WIDE, HIGH, SMALLEST = 840, 1200, 11
KINDS = (
    "connections",
    "equations",
    "genealogy",
    "influence",
    "memory",
    "orders",
    "phases",
    "rolled",
    "ssa",
    "stepgraph",
    "taps",
    "unrolled",
    "values",
)


def too_much(scene):
    """What of a picture is too wide, too high or too small."""
    sizes = [shape.size for shape in scene.walk() if isinstance(shape, Text)]
    return [
        *([f"{scene.width} pixels wide"] if scene.width > WIDE else []),
        *([f"{scene.height} pixels high"] if scene.height > HIGH else []),
        *(f"text of {size} pixels" for size in sizes if size < SMALLEST),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", gallery.loops)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_pictures_fit_a_column(kind, name, order):
    assert too_much(visual.draw(gallery.loops[name], kind, order=order)) == []


@pytest.mark.parametrize("name", [*DRAWN, *LARGE])
def test_routes_fit_a_column(name):
    case = {**DRAWN, **LARGE}[name]
    assert too_much(visual.routing(case.name, case.inputs, **case.metadata)) == []


def test_what_is_too_large_is_found():
    fits = Scene(WIDE, HIGH, (Text(0, 20, "text", SMALLEST),), "title", "description")
    assert too_much(fits) == []
    for wrong in (
        replace(fits, width=WIDE + 1),
        replace(fits, height=HIGH + 1),
        replace(fits, shapes=(Text(0, 20, "text", 10.5),)),
    ):
        assert len(too_much(wrong)) == 1
