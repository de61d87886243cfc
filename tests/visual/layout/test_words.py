"""Words in pictures: labels of boxes, lanes, and folds, and complete equations."""

import pytensor
import pytensor.tensor as pt
import pytest
from strange_loops import LOOPS

import lab
import visual
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
