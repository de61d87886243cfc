"""J v, J* g and H v against formulas and finite differences, and their costs counted by hand."""

import numpy as np
import pytest

import lab
import visual
from lab import check
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.reports.runs.directions import directions, stored
from visual.layout.names import NamedScan
from visual.pictures.unrolled.overview import goes_back


@pytest.fixture(scope="module")
def square():
    return directions(gallery.loops["square"])


def test_the_products_are_those_of_the_chain_rule(square):
    """x_t = x_0^(2^t) of x_0 = 0.95, for a direction and cotangents of ones."""
    powers = 2.0 ** np.arange(1, 5)
    slopes = powers * 0.95 ** (powers - 1)
    assert np.allclose(square.forward.outputs[-1], slopes)
    assert np.allclose(square.backward.outputs[-1], slopes.sum())

    def halved(x):
        return float(((x**powers) ** 2).sum() / 2)

    def slope(x):
        return check.finite_differences(halved, x)

    assert np.isclose(square.curved.outputs[-1], check.finite_differences(slope, 0.95), rtol=1e-4)


def test_the_two_products_belong_together():
    found = directions(gallery.loops["rnn"], "W")
    forward, backward = found.forward.outputs[-1], found.backward.outputs[-1]
    assert np.isclose(forward.sum(), backward.sum())  # <1, J 1> and <J* 1, 1>


def test_operations_counted_by_hand(square):
    assert (square.inputs, square.outputs) == (1, 4)
    assert square.loop == 1  # x²
    assert square.ahead == 3  # and x·dx·2
    assert square.back == 3  # g·2·x + what was there
    assert square.crossing == (1 + 4 * 3) / 3
    rnn = directions(gallery.loops["rnn"])  # 3 units, 2 inputs: tanh(W @ h + U @ x)
    assert rnn.loop == 9 + 6 + 3 + 3
    assert rnn.ahead == rnn.loop + 9 + 6 + 3 + 3 * 3  # and (1 − h²)·(W @ dh + U @ dx)
    assert "forwards is cheaper" in str(rnn)
    assert "backwards is cheaper" in str(directions(gallery.loops["window"]))


def test_only_what_goes_backwards_reads_stored_values(square):
    assert stored(square.forward) == 0
    assert stored(square.backward) == 4 * 8  # x₃, x₂, x₁ and x₀
    assert stored(square.curved) == 2 * 4 * 8
    assert stored(directions(gallery.loops["window"]).backward) == 0  # a linear loop


def test_pytensors_double_pullback(square):
    assert square.own == (3, 2)


def test_arrows_point_where_the_steps_go(square):
    """A loop goes back where the rows of what the first loop made are read from the last on."""
    runs = (square.forward, square.backward, square.curved)
    for scan in (scan for run in runs for scan in NamedScan.each(run)):
        read = [s.axis.index for s in scan.scan.sequences if s.axis is not None]
        back = any(rows[0] > rows[-1] for rows in read)
        assert goes_back(scan) == back == ("gradient" in scan.scan.name)
    text = visual.directions(square).text()
    assert text.count("←") == 2  # J* g, and the tangent of it


def test_names_that_there_are_not():
    with pytest.raises(ArgumentError, match="wrt = 'q'"):
        directions(gallery.loops["square"], "q")
    with pytest.raises(ArgumentError, match="of = 'q'"):
        directions(gallery.loops["square"], of="q")
    with pytest.raises(ArgumentError, match="loop = 3"):
        directions(3)
    with pytest.raises(ArgumentError, match="loop = 3"):
        visual.directions(3)


@pytest.mark.parametrize("name", ["square", "rnn"])
def test_the_picture_has_all_of_it(name):
    found = directions(gallery.loops[name])
    scene = visual.directions(gallery.loops[name])
    assert visual.directions(found).text() == scene.text()
    words = " ".join(scene.text().split())
    assert f"tangent of {name}" in words
    assert f"{found.crossing:.3g} inputs" in words
    assert scene.width <= 840
    assert scene.height <= 1200


def test_tapes_draw_a_tangent_loop_like_a_gradient(square):
    words = visual.tapes(square.forward).text()
    assert "dx₁ = x₀·dx₀·2     1.9 = 0.95·1·2" in words
    assert "no value is stored" in words
    curved = visual.tapes(square.curved).text()  # whose last loop goes back, and reads them
    assert "no value is stored" not in curved
    series = visual.tapes(lab.trace(gallery.loops["square"].derivative(2, mode="taylor")))
    assert "series of square: the loop, and what it carries" in series.text()
