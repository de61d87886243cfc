"""Words in pictures: labels of boxes, lanes, and folds, and complete equations."""

import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.gradient import NullType
from strange_loops import LOOPS

import lab
import visual
from lab.equations.quantities import Quantities
from lab.equations.spelling import Speller
from lab.gradients.status import Undefined, status_of
from lab.loops import gallery
from visual.layout.legend import ARRAYS, FOLDS
from visual.scene.shapes import Text


def words(scene):
    return [shape.content for shape in scene.walk() if isinstance(shape, Text)]


def beside(scene, label):
    """The names in the boxes of the lane with a label."""
    texts = [shape for shape in scene.walk() if isinstance(shape, Text)]
    (left,) = (t for t in texts if t.content == label)
    return [t.content for t in texts if t.bold and t.x > left.x and abs(t.y - left.y) < 16]


def test_a_total_is_not_said_to_be_there_at_every_step():
    scene = visual.draw(gallery.loops["rnn"], "unrolled", wrt="W")
    assert beside(scene, "each step reads") == ["W", "U"]
    assert sorted(beside(scene, "sum over steps")) == ["dC/dU", "dC/dW"]


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


def test_positions_are_not_cut():
    told = words(visual.draw(gallery.loops["gap"], order=2, scan=3))
    assert "pos −3, −1, 0" in told
    assert "→ 0, −3, −1" in told
    assert not any(w.startswith("pos") and "…" in w for w in told)


def test_why_there_is_no_derivative_is_told_in_words():
    class Gradient:
        def __init__(self, why):

            self.type = NullType(f"This variable is Null because {why}")

    kind = "<Matrix(float64, shape=(?, ?))>"
    why = f"the grad method for input 2 ({kind}) of the jv op is not implemented."
    assert status_of(Gradient(why)) == Undefined(
        "PyTensor has no derivative of jv with respect to its 3rd argument"
    )
    assert status_of(Gradient("nobody knows")) == Undefined("nobody knows")
