"""What derivatives take by each mode: counted by hand, and by what each mode is."""

from dataclasses import replace

import pytest
from twins import assert_twin

import lab
import visual
from lab import gallery
from lab.errors import ArgumentError, KindError
from lab.reports.runs.orders import orders

SQUARE = gallery.loops["square"].derivative(0)


@pytest.fixture(scope="module")
def square():
    return orders(SQUARE, 4)


def column(found, mode, name):
    return [getattr(way, name) for way in found.by(mode)]


def test_how_many_scans_each_mode_makes(square):
    """Reverse over reverse 2ⁿ, Taylor mode of a number one."""
    assert column(square, "reverse", "scans") == [2**n for n in range(1, 5)]
    assert column(square, "reverse", "different") == [n + 1 for n in range(1, 5)]
    assert column(square, "taylor", "scans") == [1] * 4
    assert column(orders(gallery.loops["rnn"].derivative(0), 2), "taylor", "scans") == [2, 2]


def test_the_operations_of_the_square_by_hand(square):
    """Coefficient k of x² is Σ xᵢxₖ₋ᵢ, where all but the middle come twice."""
    of_coefficient = [1, *(2 * (k // 2 + 1) for k in range(1, 5))]
    expected = [sum(of_coefficient[: n + 1]) for n in range(1, 5)]
    assert column(square, "taylor", "operations") == expected
    assert column(square, "reverse", "operations")[0] == 1 + 3  # x², and g·2·x + what was there


def test_bytes_grow_as_what_is_carried(square):
    """Every coefficient adds as much as the loop has itself."""
    own = lab.memory(lab.trace(SQUARE)).peak
    assert column(square, "taylor", "bytes") == [own * (n + 1) for n in range(1, 5)]


def test_a_linear_loop_has_no_second_derivative():
    found = orders(gallery.loops["fibonacci"].derivative(0), 2)
    assert column(found, "reverse", "scans") == [2, 0]
    assert column(found, "reverse", "bytes")[1] == 0


def test_a_mode_without_a_rule_is_refused_in_a_sentence():
    found = orders(gallery.loops["undefined"].derivative(0), 1)
    assert not found.by("taylor")
    (told,) = found.refused
    assert told.startswith("taylor: there is no rule for the coefficients of Jv")
    assert told in str(found)


def test_seconds_are_measured_only_if_asked_for(square):
    assert square == orders(SQUARE, 4)
    assert "seconds" not in visual.draw(gallery.loops["square"], "orders").text()
    timed = orders(SQUARE, 1, timed=True)
    assert all(way.seconds > 0 for way in timed.ways)
    untimed = tuple(replace(way, seconds=None) for way in timed.ways)
    assert replace(timed, ways=untimed) == orders(SQUARE, 1)
    words = visual.draw(gallery.loops["square"], "orders", timed=True).text()
    assert "Seconds, to build and run, were measured here" in words


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"derivative": 3}, KindError, "derivative = 3"),
        ({"given": 3}, KindError, "given = 3"),
        ({"most": 0}, ArgumentError, "most = 0: expected 1 to 12"),
        ({"most": 13}, ArgumentError, "most = 13"),
        ({"timed": 1}, KindError, "timed = 1"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments, error, words):
    with pytest.raises(error, match=words):
        orders(**{"derivative": SQUARE, "most": 1, **arguments})


def test_the_picture_in_words():
    assert_twin("orders-logistic", visual.draw(gallery.loops["logistic"], "orders", order=3))
