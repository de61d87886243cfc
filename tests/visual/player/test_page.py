"""Pages of machines: each number of each machine has an instruction that computes it."""

import base64
import json
import zlib
from dataclasses import is_dataclass
from unittest.mock import Mock

import numpy as np
import pytest
from bs4 import BeautifulSoup
from graphs.programs import COMPUTED, compute
from strange_loops import ONLY_SEQUENCES
from twins import assert_twin

import lab
import visual
from lab.errors import ArgumentError, LabError
from lab.loops import gallery
from lab.notation import number_text
from lab.traces.program import program_of
from visual.cli.main import main
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.places import Numeral
from visual.player.data import as_data
from visual.player.grid import pattern_text, tap_patterns
from visual.workbench.state import LoopBench

BOOLEANS = [
    lab.Loop(step, states=(lab.State("x", 2.5),), n_steps=2)
    for step in (lambda x: x * ((x > 1) + (x > 2)), lambda x: x * x.astype("bool"))
]


def numerals(data):
    """Yield all numbers of a machine that are results of instructions."""
    if isinstance(data, Numeral):
        yield data
    elif is_dataclass(data) or isinstance(data, list | tuple):
        for value in vars(data).values() if is_dataclass(data) else data:
            yield from numerals(value)


def machine_with_program(loop, order):
    """Return a machine, its instructions, and the given values by name."""
    graph = loop.build()
    derivative = loop.derivative(order, graph=graph)
    extra = graph.node.outputs[:1]
    program = program_of(derivative.values, derivative.given, extra)
    trace = lab.trace(derivative.values, derivative.given, extra, derivative.names)
    given = {str(variable.name): value for variable, value in derivative.given.items()}
    return machine_of(trace, program=program), program.instructions.lines, given


def differences(name, order, change=lambda lines: lines):
    """Return the numbers that the instructions do not compute, and the count of all numbers."""
    machine, lines, given = machine_with_program(gallery.loops[name], order)
    numbers = compute(change(lines), given)
    shown = list(numerals(machine))
    assert len(shown) <= str(as_data(machine)).count("{'n': ")
    wrong = [text for text in shown if text.strip("()‖") != printed(text, numbers)]
    return wrong, len(shown)


def printed(text, numbers):
    return number_text(numbers[text.place], 3 if text.style == "norm" else 4)


@pytest.mark.parametrize("order", [1, 3])  # a graph of order 3 also contains the Scans of order 2
@pytest.mark.parametrize("name", COMPUTED)
def test_each_number_of_a_machine_is_the_result_of_its_instruction(name, order):
    wrong, count = differences(name, order)
    assert wrong == []
    assert count > 50


def test_the_comparison_detects_a_wrong_instruction():
    def negated(lines):
        return [("Neg" if name == "Sqr" else name, *rest) for name, *rest in lines]

    assert len(differences("square", 2, negated)[0]) > 20


def test_a_sum_that_adds_nothing_can_add_a_number_for_other_values():
    """For x[t] = x[t−2] + u·x[t−1], a step reads g, and adds g and u·g to two other slots."""
    loop = lab.Loop.from_text("x[t-2] + u*x[t-1]", {"x": [0.3, 0.5]}, {"u": [0.0] * 4})
    machine, lines, given = machine_with_program(loop, 1)
    numbers = compute(lines, given | {"u": np.full(4, 2.0)})
    g = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    for moment, step in enumerate((3, 2, 1, 0), start=6):  # after 4 steps and the filling
        g[step : step + 2] += g[step + 2] * np.array([1.0, 2.0])
        cells = (c for c in machine.cells if c.name.startswith("dC/dx"))
        texts = (c.at(moment).text for c in sorted(cells, key=lambda c: c.name))
        assert [float(printed(text, numbers)) for text in texts] == g.tolist()
    (part,) = (p for p in machine.events[7].parts if machine.cells[p.target].name == "dC/dx₂")
    assert "The old value contains contributions of other readers of x₂." in part.reason  # u·g
    # The second derivative is 0 if u = 0. Only slots with constants start at 0 for all values.
    loop = lab.Loop.from_text("x + u*x**2", {"x": 0.5}, {"u": [0.0] * 2})
    machine, *_ = machine_with_program(loop, 2)
    filling = next(event for event in machine.events if event.step is None and event.scan == 3)
    summary = "".join(piece.text for piece in filling.groups[0].summary[0])
    assert summary.endswith("dC′/dx₁ = 0, dC′/dx₀ = 0; all others are 0")
    assert filling.groups[0].reason == "Initial gradients: output of Scan 3."


def unpacked(packed):
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_a_page_has_each_combination_in_all_arrangements():
    taps = {"square": [(-1,), (-2, -1)], "coupled": [{"hunters": (-2,)}]}
    page = visual.Page(["square", "coupled"], taps, [1, 2], ["last", "sum"], ["correct"])
    data = json.loads(page.data)
    assert len(data["runs"]) == (2 + 1) * 2 * 2
    for run in (unpacked(run["packed"]) for run in data["runs"].values()):
        assert {"machine", "lines", "base", "sliders"} < set(run)
        assert run["why"].startswith("Drag a given value")
        assert len(run["machine"]["layouts"]) == 4
        places = [cell["given"] for cell in run["machine"]["cells"] if cell["given"] is not None]
        assert all(run["lines"][place][0] == "input" for place in places)


def test_limits_of_machines_and_pages_have_a_reason(monkeypatch):
    monkeypatch.setattr("visual.pictures.machine.build.MOST_ROWS", 8)
    chosen = {"taps": {"square": [(-1,)], "coupled": [(-1,)]}, "orders": [1, 2], "costs": ["sum"]}
    data = json.loads(visual.Page(["square", "coupled"], **chosen).data)
    reasons = {key: run["reason"] for key, run in data["runs"].items() if "reason" in run}
    assert list(reasons) == ["loop=coupled&taps.prey=-1,&taps.hunters=-1,&order=2&cost=sum"]
    assert "plays at most 8" in next(iter(reasons.values()))
    monkeypatch.setattr("visual.drawing.study.trace", None)  # a refusal does not wait for a run
    loop = gallery.loops["coupled"].with_steps(5)
    monkeypatch.setattr("visual.pictures.machine.build.MOST_ROWS", 6)
    for refused in (
        lambda: visual.Page([loop], orders=[2], costs=["sum"]).page(),
        lambda: visual.draw(loop, "machine", order=2),
        lambda: LoopBench.from_loop(loop).changed(order=2).machine,
        lambda: LoopBench.from_loop(loop).changed(order=3, rule="swapped-taps").machine,
    ):
        with pytest.raises(LabError, match=r"plays at most 6"):
            refused()
    monkeypatch.undo()
    monkeypatch.setattr("visual.player.page.LARGEST", 1000)
    with pytest.raises(ArgumentError, match="Choose fewer loops, taps, or orders"):
        visual.Page("square", orders=1).page()


def test_a_page_that_cannot_compute_has_the_reason(monkeypatch):
    for chosen, why in (
        ({"loops": "newton"}, "Values cannot be dragged here: newton stops on a condition"),
        ({"loops": "undefined"}, "jv: a page cannot compute"),
        ({"loops": "square", "rules": "never-accumulate"}, "choose the correct rule"),
        *(({"loops": loop}, "makes booleans of computed values") for loop in BOOLEANS),
    ):
        page = visual.Page(**{"orders": 1, "costs": "last", **chosen})
        run = unpacked(next(iter(page.runs.values())))
        assert why in run["why"]
        assert "lines" not in run
    monkeypatch.setattr("lab.traces.program.MOST", 20)
    page = visual.Page("square", orders=1, costs="last")
    assert "more than 20 operations" in unpacked(next(iter(page.runs.values())))["why"]


def test_repeated_choices_occur_once():
    page = visual.Page("square", orders=[1, 1], costs="sum")
    assert page.grid.orders == (1,)
    assert len(page.runs) == 4
    assert vars(page.grid) == vars(visual.Page(["square"], orders=1, costs=["sum"]).grid)
    assert page.page() == page.page()


def test_the_usual_page_has_a_wrong_third_derivative_of_one_loop():
    large = [k for k in visual.Page().grid.combinations if "order=3" in k or "rule" in k]
    assert {link.partition("&")[0] for link in large} == {"loop=square"}
    assert "loop=square&taps.x=-1,&order=3&cost=last&rule=accumulate-overwritten" in large
    assert visual.Page("square").grid.orders == (1, 2)


def test_offered_taps_fit_the_step():
    names = ("square", "fibonacci", "gap", "logistic", "coupled", "delay")
    offered = {name: map(pattern_text, tap_patterns(gallery.loops[name])) for name in names}
    assert_twin(
        "offered-taps", "\n".join(f"{n}: {' | '.join(taps)}" for n, taps in offered.items())
    )


def test_taps_of_sequences_and_of_loops_without_states():
    loop = ONLY_SEQUENCES
    assert [*map(pattern_text, tap_patterns(loop))] == ["none"]
    assert [*map(pattern_text, tap_patterns(loop, [{"u": (0, 1)}]))] == ["0, 1"]
    window = visual.Page(["window"], taps={"window": [(-1,), {"u": (0, 1, 2)}, {"x": (-1,)}]})
    patterns = [*map(pattern_text, window.grid.taps["window"])]
    assert patterns == ["x −1 · u −1, 0, 1", "x −1 · u 0, 1, 2"]
    assert len(visual.Page([loop], orders=[1], costs=["sum"]).runs) == 1


def test_the_command_writes_a_page(tmp_path, capsys):
    path = tmp_path / "lesson.html"
    options = ["--loops", "square,coupled", "--orders", "1"]
    options += ["--taps=square=-1/-2,-1", "--taps=coupled=prey:-1;hunters:-2"]
    options += ["--costs", "sum,last", "--rules", "correct"]
    assert main(["page", "--out", str(path), *options]) == 0
    assert capsys.readouterr().out == f"{path}: 6 machines, 0.1 MB.\n"
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    (script,) = page("script", type="application/json")
    data = json.loads(script.string)
    assert [loop["taps"][-1]["link"] for loop in data["loop"]] == [
        "taps.x=-2,-1",
        "taps.prey=-1,&taps.hunters=-2,",
    ]
    assert [option["link"] for option in data["cost"]] == ["cost=sum", "cost=last"]
    assert data["rule"] == [{"label": "correct", "link": ""}]
    assert [p.name for p in tmp_path.iterdir()] == ["lesson.html"]


def test_an_interrupt_leaves_no_file(folder, monkeypatch, capsys):
    for words, work in (
        ("page --out x.html", "visual.player.page.study_of"),
        ("draw tapes --loop square --out x.gif", "visual.backends.films.frames"),
    ):
        monkeypatch.setattr(work, Mock(side_effect=KeyboardInterrupt))
        assert main(words.split()) == 130
        assert capsys.readouterr().err == "scantape: stopped.\n"
        assert not list(folder.iterdir())
