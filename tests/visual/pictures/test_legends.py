"""Legends and strips describe quantities; `pictures.checkers` reads all legends."""

import re

import numpy as np
import pytest

import visual
from lab import check
from lab.loops import gallery
from visual.layout.names import NamedScan
from visual.scene.shapes import Box, Text

# Strips.


def strips(scene):
    """Return the cells with strips: their text and their patches."""
    for group in scene.groups():
        patches = [s for s in group.shapes if isinstance(s, Box) and s.heat is not None]
        if patches:
            yield group, patches


@pytest.mark.parametrize("kind", ["tapes", "unrolled"])
def test_strips_of_a_quantity_are_on_one_scale(kind):
    """Patches times the value of the full color in the legend are the entries."""
    loop = gallery.loops["rnn"]
    scene = visual.draw(loop, kind)
    lines = [t.content for t in scene.walk() if isinstance(t, Text)]  # the last ones are folded
    told = " ".join(lines[next(n for n, line in enumerate(lines) if "full color:" in line) :])
    scales = dict(
        reversed(part.strip().removeprefix("±").split(" of "))
        for part in told.removeprefix("full color: ").split(",")
    )
    seen = set()
    for group, patches in strips(scene):
        entries = np.array(eval(group.title.partition(" = ")[2].split(" (")[0])).ravel()
        scale = float(scales[group.quantity])
        found = np.array([patch.share for patch in patches]) * scale
        np.testing.assert_allclose(found, entries, atol=1e-3 * scale)
        seen.add(group.quantity)
    assert seen == set(scales)


def test_negative_entries_stand_in_the_lower_half():
    for _, patches in strips(visual.draw(gallery.loops["rnn"], "tapes")):
        bottom = {round(patch.y + patch.height) for patch in patches}
        for patch in patches:
            assert round(patch.filled.y + patch.filled.height) in bottom
        rows = {}
        for patch in patches:
            rows.setdefault(round(patch.y + patch.height), []).append(patch.filled)
        for row in rows.values():
            low = [patch.height for patch in row if patch.heat < 0]
            high = [patch.height for patch in row if patch.heat > 0]
            assert not (low and high) or max(low) < min(high)


@pytest.mark.parametrize(("name", "parameter"), [("newton", "a"), ("coupled", "birth")])
def test_the_numbered_parts_of_a_gradient_sum_to_it(name, parameter):
    """The slope of the first derivative over the parameter is the sum of all parts."""
    loop = gallery.loops[name]
    trace = loop.trace(order=2)
    part = re.compile(rf"∂[₁-₉]C′/∂{parameter}")
    parts = [
        float(tape.final[-1])
        for named in NamedScan.each(trace)
        for tape in named.scan.held
        if part.fullmatch(named.tape_label(tape, None))
    ]
    assert len(parts) > 1

    def slope(value):
        return float(loop.with_values({parameter: value}).trace(order=1).outputs[1])

    (at,) = [p.value for p in trace.scans[0].parameters if p.name == parameter]
    measured = check.finite_differences(slope, float(at))
    assert sum(parts) == pytest.approx(float(measured), rel=1e-4, abs=1e-9)
