"""The text of a state and the link of a workbench restore it; undo and redo follow the choices."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st
from workbenches import send

from visual.player.state import as_text, from_text
from visual.workbench.workbench import Workbench


def test_link_and_copied_cell_have_the_moment_until_another_run():
    bench = Workbench("gap", order=2, view="machine")
    assert "moment" not in bench.python + bench.link
    bench.moment = 9
    assert bench.link == "loop=gap&order=2&moment=9"
    assert Workbench("contributor=1").state == Workbench(contributor=True).state
    moments = []
    for act in (lambda: bench.set(order=1), bench.undo, bench.redo, bench.undo):
        act()
        moments.append(bench.moment)
    bench.set(view="tapes")
    bench.set(view="machine")
    assert [*moments, bench.moment] == [-1, 9, -1, 9, 9]


def test_every_choice_is_undone_and_redone(monkeypatch):
    monkeypatch.setattr("visual.workbench.state.LEAST", 1)  # comparing order 3 takes most time
    bench = Workbench(view="taps")
    links = [bench.link]
    changes = [
        (["order"], 2),
        (["loop"], "gap"),
        (["steps"], 2),
        (["taps", "x"], [-2, -1]),
        (["theme"], "dark"),
        (["order"], 1),
        (["view"], "machine"),
        (["rule"], "swapped-taps"),
    ]
    for key, value in changes:
        assert send(bench, key, value) == ""
        links.append(bench.link)
    assert len(set(links)) == len(links)
    assert (bench.form["undo"], bench.form["redo"]) == (True, False)
    for link in reversed(links[:-1]):
        send(bench, ["undo"], None)
        assert bench.link == link
    assert (bench.form["undo"], bench.form["redo"]) == (False, True)
    bench.undo()
    assert bench.link == links[0]
    for link in links[1:]:
        bench.redo()
        assert bench.link == link
    bench.redo()
    assert bench.link == links[-1]


def test_a_new_choice_replaces_undone_choices_and_an_error_is_no_choice():
    bench = Workbench(view="taps")
    assert send(bench, ["steps"], 0) != ""
    assert bench.form["undo"] is False
    bench.set(order=2)
    bench.undo()
    bench.set(order=3)
    bench.redo()
    assert bench.state.order == 3
    bench.undo()
    assert bench.state.order == 1


def test_a_dragged_slider_is_undone_by_one_step(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("visual.workbench.workbench.time.monotonic", lambda: now[0])
    bench = Workbench(view="taps")
    for value in ("0.9", "0.8", "0.7"):
        now[0] += 0.1
        send(bench, ["at", "x", 0], value)
    now[0] += 5
    send(bench, ["at", "x", 0], "0.6")
    bench.undo()
    assert bench.state.at == {"x": 0.7}
    bench.undo()
    assert bench.state.at == {}


def test_the_example_of_a_rule_is_opened_by_its_text():
    bench = Workbench(order=2, steps=2)
    example = "loop=square&taps.x=-2,-1&steps=2&order=2&rule=accumulate-overwritten"
    assert send(bench, ["link"], example) == ""
    assert bench.state.taps == {"x": (-2, -1)}
    # x₃ = x₁²·x₀, so that ∂/∂x₁ of the sum of its gradient x₁² + 2·x₁·x₀ is 2·x₁ + 2·x₀ = 3.8
    assert re.fullmatch(r"With the faulty rule, C″\[1\] is .*, not 3.8", bench.machine["title"])
    assert send(bench, ["link"], "loop=none") != ""


numbers = st.integers() | st.floats() | st.booleans()
vectors = st.lists(numbers).map(tuple)
rows = st.integers(0, 3).map(lambda n: st.tuples(*[numbers] * n))
matrices = rows.flatmap(lambda row: st.lists(row, min_size=1)).map(tuple)
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
def test_a_text_restores_its_state(state):
    text = as_text(state)
    for link in (text, f"https://example.org/page.html#{text}"):
        items = {k: dict(v) if isinstance(v, Mapping) else v for k, v in from_text(link).items()}
        assert repr(items) == repr(state)  # `repr` distinguishes types of numbers; nan != nan
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
    assert from_text("taps.x=-1") == from_text("taps.x=-1,") == {"taps": {"x": (-1,)}}
