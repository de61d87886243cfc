"""Words in pictures: labels of boxes, lanes, and folds, and complete equations."""

import pytensor
import pytensor.tensor as pt
import pytest
from strange_loops import LOOPS

import lab
import visual
from lab.equations.quantities import Quantities
from lab.equations.spelling import Speller
from lab.loops import gallery
from visual.layout.legend import ARRAYS, FOLDS
from visual.scene.shapes import Text


def words(scene):
    return [shape.content for shape in scene.walk() if isinstance(shape, Text)]


def test_a_truncated_gradient_is_called_truncated():
    x0 = pt.dscalar("x0")
    loop = lab.Loop(lambda x: x * x, states=(lab.State("x", 0.9),), n_steps=5)
    assert not any("truncated" in w for w in words(visual.draw(loop, "unrolled")))

    xs = pytensor.scan(
        lambda x: x * x, outputs_info=[x0], n_steps=5, truncate_gradient=2, return_updates=False
    )
    found = lab.derivative(xs[-1], x0, 1)
    told = " ".join(words(visual.draw(found, "unrolled", given={x0: 0.9})))
    assert "truncated: only the last 2 of 5" in told


@pytest.mark.parametrize("picture", ["unrolled", "tapes", "ssa"])
def test_strips_and_folds_are_explained_where_they_occur(picture):
    assert ARRAYS in words(visual.draw(gallery.loops["rnn"], picture))
    assert FOLDS not in words(visual.draw(gallery.loops["rnn"], picture))
    long = words(visual.draw(LOOPS["a thousand steps"].with_steps(40), picture))
    assert FOLDS in long
    assert ARRAYS not in long


@pytest.mark.parametrize("name", gallery.loops)
def test_a_rolled_loop_has_every_equation_whole(name):
    loop = gallery.loops[name]
    trace = loop.trace(1)
    spell = Speller(Quantities(trace, 0))
    scene = visual.unrolled(trace, scan=1)
    written = "".join(t.content for t in scene.walk() if isinstance(t, Text) and t.mono)
    for formula in trace.scans[0].formulas:
        assert spell.equation(formula).replace(" ", "") in written.replace(" ", "")
