"""A faulty rule in the workbench: its pictures, messages, saved state, and new computations."""

import pytensor
import pytensor.tensor as pt
import pytest
from workbenches import control, rebuild, send, sine, user_loop

import lab
import visual
from lab.loops import gallery
from lab.reports.breaking.breakage import Truth
from visual.workbench.workbench import Workbench

HISTORICAL = "accumulate-overwritten"
SQUARE = gallery.loops["square"].with_steps(5)


@pytest.fixture
def quick(monkeypatch):
    """Compare only the requested orders, to save time."""
    monkeypatch.setattr("visual.workbench.state.LEAST", 1)


def machine_svg(loop, rule, order=1, theme="light", **chosen):
    return last(lab.break_rule(loop, rule, order, **chosen), theme)


def last(breakage, theme="light"):
    """Return the SVG of the machine of both runs at the last moment."""
    machine = visual.machine(breakage)
    return machine.scene(machine.content.moments, theme).svg()


def test_a_faulty_rule_is_shown_with_its_first_wrong_result():
    bench = Workbench(SQUARE, view="tapes")
    assert control(bench, "rule")["value"] == "correct"
    assert control(bench, "rule")["about"] == ""
    assert send(bench, ["rule"], HISTORICAL) == ""
    assert bench.picture.svg() == machine_svg(SQUARE, HISTORICAL, 3)
    assert "20171.5" in bench.picture.svg()
    assert control(bench, "rule")["about"] == lab.BROKEN[HISTORICAL].change
    assert control(bench, "view")["value"] == "faulty rule"
    assert bench.breakage.visible == 3
    assert send(bench, ["rule"], "correct") == ""
    assert bench.breakage is None
    assert bench.svg == visual.draw(SQUARE, "tapes").svg()


def test_every_rule_can_be_chosen_by_its_title(quick):
    bench = Workbench(view="tapes")
    options = dict(control(bench, "rule")["options"])
    assert options.pop("correct") == "correct rule"
    assert options == {name: rule.title for name, rule in lab.BROKEN.items()}
    for name in options:
        assert send(bench, ["rule"], name) == ""
        assert bench.picture.svg() == machine_svg(gallery.loops["square"], name)


CHANGES = [
    (["taps", "x"], [-2, -1], {"taps": {"x": (-2, -1)}}),
    (["at", "x", 0], "0.8", {"at": {"x": 0.8}}),
    (["order"], 2, {"order": 2}),
    (["order"], 0, {}),
    (["theme"], "dark", {"theme": "dark"}),
    (["loop"], "gap", {"loop": "gap"}),
]


@pytest.mark.parametrize(("key", "value", "chosen"), CHANGES, ids=str)
def test_other_changes_preserve_the_rule(quick, key, value, chosen):
    bench, chosen = Workbench(rule=HISTORICAL, view="tapes"), dict(chosen)
    assert send(bench, key, value) == ""
    assert bench.state.rule == HISTORICAL
    loop = gallery.loops[chosen.pop("loop", "square")].with_taps(chosen.pop("taps", {}))
    assert bench.picture.svg() == machine_svg(loop, HISTORICAL, **chosen)


def test_a_tab_selects_a_faulty_rule_and_another_tab_the_correct_rule(quick):
    bench, square = Workbench(view="tapes"), gallery.loops["square"]
    assert [name for name, _ in control(bench, "view")["options"]][:2] == ["machine", "faulty rule"]
    assert send(bench, ["view"], "faulty rule") == ""
    first = next(iter(lab.BROKEN))
    assert (bench.state.rule, bench.state.view) == (first, "tapes")
    assert bench.picture.svg() == machine_svg(square, first)
    assert send(bench, ["rule"], "never-accumulate") == ""
    assert send(bench, ["view"], "faulty rule") == ""
    assert bench.state.rule == "never-accumulate"
    assert send(bench, ["view"], "tapes") == ""
    assert (bench.state.rule, control(bench, "view")["value"]) == (None, "tapes")
    assert bench.svg == visual.draw(square, "tapes").svg()


def test_the_truth_is_computed_once(quick, monkeypatch):
    truths, differences = [], Truth.differences
    monkeypatch.setattr(Truth, "differences", property(lambda self: count(self)))

    def count(self):
        truths.append(self)
        return differences.__get__(self)

    bench = Workbench(user_loop(), wrt="w", view="tapes")
    for rule in (*lab.BROKEN, HISTORICAL, "swapped-taps"):
        assert send(bench, ["rule"], rule) == ""
    assert len(set(map(id, truths))) == 1
    assert len(truths) == len(lab.BROKEN)  # one comparison for each faulty rule
    assert send(bench, ["order"], 0) == ""
    assert len(truths) == len(lab.BROKEN)  # order 1 is always compared
    assert send(bench, ["cost"], "sum") == ""
    assert len(set(map(id, truths))) == 2


def test_a_rule_applies_to_a_graph_of_the_user(quick):
    cost, x0 = sine()
    bench = Workbench(cost, x0, {x0: 0.5}, view="tapes")
    for key, value, given in ((["rule"], HISTORICAL, 0.5), (["at", "x0", 0], "0.7", 0.7)):
        assert send(bench, key, value) == ""
        truth = Truth(lab.derivative(cost, x0, 1), {x0: given})
        assert bench.picture.svg() == last(truth.broken_by(HISTORICAL))
    assert rebuild(bench, cost=cost, x0=x0, wrt=x0).machine == bench.machine


def test_the_name_of_an_input_can_be_any_text():
    x = pt.dscalar("2 x₀")
    xs = pytensor.scan(lambda v: v**2, outputs_info=[x], n_steps=2, return_updates=False)
    assert "bench = visual.Workbench(" in Workbench(xs[-1], x, {x: 0.5}).python
