"""The workbench without a browser: states, traits, pictures, messages, and the copied cell."""

import gc
import json
from functools import _lru_cache_wrapper
from itertools import product

import ipywidgets
import numpy as np
import pytest
from fuzzing.outcomes import check_sentence
from ipywidgets.widgets.widget import _instances
from workbenches import control, rebuild, send, sine, user_loop

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.workbench.workbench import Workbench

ASKED = [
    ("square", ["cost"], "sum", {"cost": "sum"}),
    ("square", ["at", "x", 0], "0.8", {"at": {"x": 0.8}}),
    ("square", ["theme"], "dark", {"theme": "dark"}),
    ("coupled", ["wrt"], "birth", {"wrt": "birth"}),
    ("coupled", ["of"], "hunters", {"of": "hunters"}),
    ("window", ["taps", "u"], [-2, 0, 1], {"taps": {"u": (-2, 0, 1)}}),
    ("lookup", ["at", "k", 0], "1", {"at": {"k": np.array([1, 0, 1, 1])}}),
    ("rnn", ["at", "h", 2], "0.7", {"at": {"h": [0.1, -0.2, 0.7]}}),
]


@pytest.mark.parametrize(("loop", "key", "value", "chosen"), ASKED, ids=str)
def test_a_change_draws_the_same_as_draw(loop, key, value, chosen):
    bench = Workbench(gallery.loops[loop], view="unrolled")
    assert send(bench, key, value) == ""
    theme, others = chosen.get("theme", "light"), {n: chosen[n] for n in chosen if n != "theme"}
    assert bench.svg == visual.draw(gallery.loops[loop], "unrolled", theme, **others).svg()


@pytest.mark.parametrize("name", gallery.loops)
def test_every_loop_opens_by_its_name_and_is_rebuilt(name):
    bench = Workbench(view="tapes")
    assert send(bench, ["loop"], name) == ""
    assert bench.svg == visual.draw(gallery.loops[name], "tapes").svg()
    for again in (rebuild(bench), Workbench(bench.link)):
        assert (again.state, again.svg) == (bench.state, bench.svg)


BAD = [
    ("square", ["order"], 9, "order = 9: expected an integer, 0 to 6."),
    ("square", ["order"], "", "order = '': expected an integer, 0 to 6."),
    ("square", ["taps", "x"], [], "expected at least one tap"),
    ("gap", ["taps", "x"], [-3], "takes exactly 2 taps"),
    ("sequence", ["steps"], 5, "add 1 more"),
    ("square", ["at", "x", 0], "much", "x = 'much': expected a number."),
    ("lookup", ["at", "k", 0], "0.5", "expected integers"),
    ("lookup", ["wrt"], "k", "expected a real floating-point variable"),
    ("square", ["loop"], "circle", "loop = 'circle': expected one of written, square"),
    ("square", ["colour"], "red", "expected the key of a control"),
    ("square", ["rule"], "none", "expected one of accumulate-overwritten"),
    ("square", ["written"], ["x.y", "x = 1"], "x.y"),
    ("square", ["written"], ["x**2", "x = one"], "values: 'x = one'"),
    ("square", ["save"], "exe", "svg, pdf, png, or html"),
]


@pytest.mark.parametrize(("loop", "key", "value", "words"), BAD, ids=str)
def test_an_error_is_next_to_its_control_and_changes_nothing(loop, key, value, words):
    bench = Workbench(gallery.loops[loop], order=2, view="tapes")
    state, svg = bench.state, bench.svg
    assert words in send(bench, key, value)
    assert bench.form["problem"]["key"] == key
    assert (bench.state, bench.svg) == (state, svg)
    assert send(bench, ["theme"], "print") == ""


KEYS = ([], ["nothing"], [5], [None], ["taps"], ["taps", 5], ["taps", "x"], ["at", "x", 99])
KEYS += (["at", "x", 0], ["at"], ["options", "all"], ["written"], ["steps"], ["weights"], ["save"])
KEYS += (["options", "nothing"], ["at", "nothing", 0], ["link"], ["loop"], ["view"], ["cost"])
ODD = (None, True, "", "nan", 1e400, 10**30, "\ud800", "a\nb", [], [None], [[1]], {}, ["x**", 1])


def test_odd_messages_cause_one_sentence():
    bench = Workbench(view="taps")
    bench.send = lambda *_, **__: None
    messages = [{"number": 1, "key": key, "value": value} for key, value in product(KEYS, ODD)]
    messages += [*ODD, {"number": 1, "key": ["order"]}, {"number": "1", "key": [], "value": 1}]
    for message in messages:
        bench.receive(message)
        json.dumps(bench.form, allow_nan=False)
        if problem := bench.form["problem"]["text"]:
            check_sentence(problem)
    assert problem.startswith("message = ")


def test_weights_begin_as_the_cost_before_them():
    bench = Workbench(view="tapes")
    assert send(bench, ["cost"], "weights") == ""
    assert control(bench, "weights")["value"] == "0 0 0 1"
    assert bench.svg == visual.draw(gallery.loops["square"], "tapes", cost=[0, 0, 0, 1]).svg()
    assert send(bench, ["weights"], "0 0.25 1 3") == ""
    assert bench.state.cost == (0.0, 0.25, 1.0, 3.0)
    assert "4" in send(bench, ["weights"], "1 2")
    assert bench.state.cost == (0.0, 0.25, 1.0, 3.0)


def test_a_state_is_frozen_and_set_from_python():
    bench = Workbench(view="tapes")
    with pytest.raises(AttributeError):
        bench.state.order = 3
    with pytest.raises(TypeError):
        bench.state.taps["x"] = (-2,)
    bench.set(order=2, taps={"x": (-2, -1)}, view="tapes")
    assert (bench.state.order, dict(bench.state.taps)) == (2, {"x": (-2, -1)})
    assert control(bench, "taps", "x")["value"] == [-2, -1]
    before = bench.state
    for wrong in ({"order": -1}, {"colour": 1}, {"taps": 3}, {"step": 1}, {"loop": 3}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            bench.set(**wrong)
    assert bench.state == before


def test_chosen_values_remain_for_other_taps():
    bench = Workbench(at={"x": 0.8}, view="tapes")
    assert send(bench, ["taps", "x"], [-3, -1]) == ""
    loop = gallery.loops["square"].with_values({"x": 0.8}).with_taps({"x": (-3, -1)})
    assert bench.svg == visual.draw(loop, "tapes").svg()
    assert send(bench, ["at", "x", 1], "0.9") == ""
    assert bench.state.at["x"] == (0.8, 0.9, 0.8)


TYPED = [  # a step, its values, and the same values of states, sequences, and parameters
    ("x**2", "x = 0.95", {"x": 0.95}),
    ("x = w*x + u", "x = 1; u = .1 .2, .3; w = .9", {"x": 1}, {"u": [0.1, 0.2, 0.3]}, {"w": 0.9}),
    ("y = sin(x[t-1])*x[t-2]; x = y[t] + x", "x = 1 2", {"x": [1, 2]}),
]


@pytest.mark.parametrize(("text", "values", "like"), [(t, v, like) for t, v, *like in TYPED])
def test_a_step_can_be_typed(text, values, like):
    bench = Workbench(view="tapes")
    assert send(bench, ["written"], [text, values]) == ""
    assert bench.state.loop == "written"
    has_sequence = len(like) > 1
    steps = {} if has_sequence else {"n_steps": 4}
    loop = lab.Loop.from_text(text, *like, name="written", **steps)
    assert bench.svg == visual.draw(loop, "tapes").svg()
    assert rebuild(bench).svg == bench.svg
    assert send(bench, ["written"], control(bench, "written")["value"]) == ""
    assert bench.svg == visual.draw(loop, "tapes").svg()
    if not has_sequence:
        assert send(bench, ["steps"], 6) == send(bench, ["at", "x", 0], "0.25") == ""
    assert Workbench(bench.link).state == bench.state
    assert Workbench(bench.link).svg == bench.svg


def test_each_picture_has_its_own_options():
    """A change of the view keeps only the option `scan`."""
    loop, bench = gallery.loops["square"], Workbench(view="tapes")
    assert send(bench, ["options", "all"], True) == ""
    assert send(bench, ["options", "scan"], 1) == ""
    assert bench.svg == visual.draw(loop, "tapes", all=True, scan=1).svg()
    assert send(bench, ["view"], "stepgraph") == ""
    assert bench.svg == visual.draw(loop, "stepgraph", scan=1).svg()
    assert "expected a Scan of this trace" in send(bench, ["options", "scan"], 7)
    assert send(bench, ["options", "scan"], None) == ""
    assert bench.svg == visual.draw(loop, "stepgraph").svg()
    assert "option buffer was removed" in send(bench, ["options", "buffer"], True)
    assert "color = True: the picture stepgraph has" in send(bench, ["options", "color"], True)


CELLS = [
    {"view": "tapes", "options": {"all": True, "scan": 1}},
    {"order": 2, "taps": {"x": (-2, -1)}, "at": {"x": (0.5, 0.8)}, "view": "machine", "moment": 5},
    {"steps": 6, "cost": "sum", "at": {"x": 0.1 + 0.2}, "theme": "print"},
    {"cost": [0.1, 0.2, 0.3, 1 / 3], "view": "values"},
    {"order": 0},
    {"at": {"x": float("nan")}},
    {"rule": "swapped-taps", "order": 2, "view": "tapes"},
    {"contributor": True},
]


@pytest.mark.parametrize("choices", CELLS, ids=str)
def test_the_copied_cell_and_the_link_rebuild_the_workbench(choices, monkeypatch):
    monkeypatch.setattr("visual.workbench.state.LEAST", 1)
    bench = Workbench(**choices)
    for again in (rebuild(bench), Workbench(bench.link)):
        assert (again.svg, again.machine) == (bench.svg, bench.machine)
        assert (again.moment, again.python) == (bench.moment, bench.python)
        assert again.state.rule == bench.state.rule == choices.get("rule")
        assert again.contributor == bench.contributor == choices.get("contributor", False)


TRUNCATED = lab.Loop.from_text(  # a link cannot contain the truncation
    "x = w*x", {"x": 1.0}, {}, {"w": 0.5}, n_steps=4, truncate_gradient=2
)


@pytest.mark.parametrize("loop", [user_loop(), TRUNCATED], ids=["a function", "a truncated loop"])
def test_a_loop_of_the_user_is_rebuilt_from_its_name_and_has_no_link(loop):
    bench = Workbench(loop, order=2, wrt="w", view="tapes")
    assert bench.svg == visual.draw(loop, "tapes", order=2, wrt="w").svg()
    assert "# loop: your lab.Loop" in bench.python
    assert rebuild(bench, loop=loop).svg == bench.svg
    assert bench.link == ""


@pytest.mark.parametrize("is_derivative", [True, False])
def test_a_graph_of_the_user(is_derivative):
    cost, x0 = sine()
    subject = (lab.derivative(cost, x0, 2),) if is_derivative else (cost, x0)
    order = {} if is_derivative else {"order": 2}
    bench = Workbench(*subject, {x0: 0.5}, view="tapes", **order)
    assert bench.link == ""
    expected = visual.draw(lab.derivative(cost, x0, 2), "tapes", given={x0: 0.7})
    assert send(bench, ["at", "x0", 0], "0.7") == ""
    assert bench.svg == expected.svg()
    assert rebuild(bench, cost=cost, x0=x0, wrt=x0).svg == bench.svg
    with pytest.raises(ArgumentError, match=r"choice = 'taps': .*a graph has the choices"):
        bench.set(taps={"x": (-2,)})
    assert "inputs of this graph" in send(bench, ["wrt"], "y")


STARTS = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "html": b"<!DOCTYPE html>"}


@pytest.mark.parametrize("rule", [None, "swapped-taps"])
@pytest.mark.parametrize("suffix", STARTS)
def test_a_picture_is_sent_as_a_file(suffix, rule, monkeypatch):
    monkeypatch.setattr("visual.workbench.state.LEAST", 1)  # comparing order 3 takes most time
    bench, files = Workbench(view="tapes", rule=rule), []
    monkeypatch.setattr(bench, "send", lambda content, buffers: files.append((content, buffers)))
    assert send(bench, ["save"], suffix) == ""
    ((content, (file,)),) = files
    assert content["file"] == f"square-{rule or 'tapes'}-1.{suffix}"
    assert file.startswith(STARTS[suffix])


def test_a_saved_machine_shows_the_moment_of_the_page(monkeypatch):
    bench, files = Workbench(order=2, moment=6), []
    monkeypatch.setattr(bench, "send", lambda _, buffers: files.extend(buffers))
    assert [send(bench, ["save"], suffix) for suffix in ("svg", "html")] == ["", ""]
    assert files[0].decode() == visual.machine(gallery.loops["square"].trace(2), moment=6).svg()
    assert b'"moment":6' in files[1]  # the page plays from there


def test_an_unexpected_error_is_reported_and_raised(monkeypatch):
    bench = Workbench(view="tapes")
    monkeypatch.setattr("visual.workbench.state.draw_study", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        send(bench, ["order"], 2)
    assert bench.form["answered"] == 1
    assert "ZeroDivisionError" in bench.form["problem"]["text"]
    monkeypatch.undo()
    assert send(bench, ["order"], 2, 2) == ""


def test_a_failed_workbench_registers_no_widget():
    """Otherwise, a page would look for a widget without a model."""
    before = [*_instances]
    for wrong in ({"taps": {"x": ()}}, {"moment": "two"}, {"moment": 25}, {"moment": -3}):
        with pytest.raises(ArgumentError):
            Workbench(**wrong)
    bench = Workbench(view="tapes")
    assert [*_instances] == before
    assert _instances[bench.model_id] is bench


def test_many_changes_leave_no_objects():
    """Count the widgets, and the objects newer than the test, except for intentional caches."""
    bench, pictures = Workbench(order=2, view="tapes"), []
    gc.unfreeze()  # the objects that conftest.py freezes
    wrappers = (obj for obj in gc.get_objects() if type(obj) is _lru_cache_wrapper)
    caches = [obj for obj in wrappers if obj.__module__.startswith(("lab.", "visual."))]
    gc.freeze()
    changes = (
        lambda n: send(bench, ["at", "x", 0], 0.3 + n / 977),
        lambda n: send(bench, ["order"], n % 3),
        lambda n: send(bench, ["view"], ("tapes", "stepgraph", "ssa", "taps")[n // 8 % 4]),
        lambda n: send(bench, ["taps", "x"], ([-2, -1], [-1])[n // 8 % 2]),
        lambda n: send(bench, ["theme"], ("dark", "light")[n // 8 % 2]),
        lambda n: bench.set_state({"moment": n // 8 % 4}),
        lambda n: send(bench, ["order"], 12),
    )

    def count_objects():
        for obj in caches:
            obj.cache_clear()
        gc.collect()
        return np.array([len(gc.get_objects()), len(_instances)])

    def growth(times, keep=tuple):
        before = count_objects()
        for number in range(times):
            changes[number % len(changes)](number)
            pictures.extend(keep())
        objects, widgets = count_objects() - before
        assert widgets == 0
        return objects

    growth(36)  # after these changes, the history is full
    growth(36)  # abstract classes, as in matplotlib, cache the types that they meet
    assert growth(36) < 50
    assert growth(8, lambda: [bench.picture]) > 1000  # the measure detects objects that remain


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_pymc_model_is_its_log_density():
    pytest.importorskip("pymc", reason="PyMC is not installed")
    from graphs.of_pymc import garch

    bench = Workbench(garch(), order=1, wrt="beta_logodds__", view="tapes")
    assert "gradient of garch" in bench.picture.text()
    (control_of_wrt,) = (c for c in bench.form["controls"] if c["key"] == ["wrt"])
    assert {*control_of_wrt["options"][0]} == {"omega_log__"}
    assert "visual.Workbench(model, order=1, wrt='beta_logodds__', view='tapes')" in bench.python


LOST = [
    ("tapes", ["options", "scan"], 3, ["order"], 1, {"order": 1}),
    ("tapes", ["options", "scan"], 2, ["order"], 0, {"order": 0}),
    ("stepgraph", ["options", "step"], 3, ["steps"], 2, {"order": 2, "steps": 2}),
    ("stepgraph", ["options", "scan"], 2, ["view"], "taps", {"order": 2}),
    ("unrolled", ["options", "scan"], 4, ["wrt"], "x", {"order": 2, "wrt": "x"}),
]


@pytest.mark.parametrize(("view", "option", "old", "key", "value", "chosen"), LOST, ids=str)
def test_an_option_that_is_no_longer_valid_is_dropped(view, option, old, key, value, chosen):
    """A choice that is still valid remains: the fourth Scan, for another variable."""
    bench = Workbench(order=2, view=view)
    assert send(bench, option, old) == send(bench, key, value) == ""
    options = {"scan": 4} if view == "unrolled" else {}
    assert dict(bench.state.options) == options
    subject = gallery.loops["square"]
    assert bench.svg == visual.draw(subject, bench.state.view, **chosen, **options).svg()


def test_a_requested_option_must_be_valid():
    bench = Workbench(order=2, view="tapes")
    bench.set(options={"scan": 3})
    with pytest.raises(ArgumentError, match="scan = 3: expected a Scan"):
        bench.set(order=1, options={"scan": 3})


def test_traits_and_choices_are_linked_in_both_directions():
    bench, changes = visual.Workbench(view="tapes"), []
    bench.observe(lambda change: changes.append((change.name, change.new)), ["order", "loop"])
    slider = ipywidgets.IntSlider(value=1, min=0, max=3)
    ipywidgets.link((slider, "value"), (bench, "order"))
    slider.value = 2
    assert bench.svg == visual.draw(gallery.loops["square"], order=2).svg()
    bench.loop = "gap"
    assert bench.svg == visual.draw(gallery.loops["gap"], order=2).svg()
    bench.set(order=1)
    assert send(bench, ["view"], "taps") == ""
    assert changes == [("order", 2), ("loop", "gap"), ("order", 1)]
    assert slider.value == bench.order == bench.state.order == 1
