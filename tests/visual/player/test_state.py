"""The text of a state: read back, it gives the same state, and a browser reads the same pairs."""

import math
from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from visual.player.state import as_text, from_text

numbers = st.integers() | st.floats(allow_nan=False) | st.booleans()
vectors = st.lists(numbers).map(tuple)
matrices = st.lists(vectors).map(tuple).filter(len)
names = st.text(min_size=1, max_size=8)
values = numbers | vectors | matrices
states = st.fixed_dictionaries(
    {"loop": st.text(), "order": st.integers(0, 9)},
    optional={
        "taps": st.dictionaries(names, st.lists(st.integers(), min_size=1).map(tuple), min_size=1),
        "at": st.dictionaries(names, values, min_size=1),
        "cost": st.sampled_from(["sum", "last"]) | st.lists(st.floats(0, 1), min_size=2).map(tuple),
        "rule": st.text(),
        "moment": st.integers(0, 99),
    },
)


@given(states)
def test_a_state_comes_back_from_its_text(state):
    text = as_text(state)
    assert from_text(text) == state
    assert from_text(f"https://example.org/page.html#{text}") == state
    assert text.isascii()
    assert " " not in text


def test_the_text_is_short_and_another_reader_finds_the_same_pairs():
    state = {
        "loop": "gap",
        "order": 2,
        "taps": {"x": (-2, -1), "u": (-1,)},
        "at": {"u": ((1.5, 2), (3, -0.25)), "w": 0.5, "v": (1e-9,)},
        "cost": (1, 0.5),
        "rule": "a & b = c",
        "moment": 17,
    }
    text = as_text(state)
    assert text == (
        "loop=gap&order=2&taps.x=-2,-1&taps.u=-1,&at.u=1.5,2;3,-0.25&at.w=0.5&at.v=1e-09,"
        "&cost=1,0.5&rule=a%20%26%20b%20=%20c&moment=17"
    )
    assert dict(parse_qsl(text))["rule"] == "a & b = c"
    assert from_text(text) == state


def test_types_of_numbers_are_kept():
    read = from_text("loop=square&at.x=1&at.y=1.0&at.z=nan&at.b=True,False&options.scan=2")
    assert [type(read["at"][name]) for name in "xy"] == [int, float]
    assert math.isnan(read["at"]["z"])
    assert read["at"]["b"] == (True, False)
    assert read["options"] == {"scan": 2}
