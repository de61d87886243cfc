"""Mistakes that people make, in Python, on the command line and with files: what they are told."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import traitlets
from fuzzing.outcomes import check_sentence
from pytensor.graph.replace import vectorize_graph

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.cli.main import main
from visual.workbench.workbench import Workbench
from visual.workbench.written import written

ROOT = Path(__file__).parent.parent
SQUARE = gallery.loops["square"]
SHARED = pytensor.shared(np.array(0.5), name="w")
FOREIGN = pt.dscalar("w")
GENERATOR = pytensor.shared(np.random.default_rng(0), name="noise")
BATCH = pt.dvector("batch")
STEPS, SMALL = pt.lscalar("n"), pt.bscalar("small")
DOUBLED = pytensor.scan(
    lambda x: x * 2, outputs_info=[FOREIGN], n_steps=STEPS, return_updates=False
)[-1]
FACTOR, TURN = pt.zscalar("w"), pt.dscalar("turn")
CIRCLING = pytensor.scan(
    lambda z: z * FACTOR, outputs_info=[FACTOR], n_steps=2, return_updates=False
)[-1]
LONG = "x" * 100_000
ENDLESS = range(10**12)


class Mute:
    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


def loop(step, start=0.5, **options):
    return lab.Loop(step, states=(lab.State("x", start),), n_steps=2, **options)


def noise():
    return pt.random.normal(rng=GENERATOR, return_next_rng=True)[1]


def deep(times):
    def step(x):
        for _ in range(times):
            x = pt.sin(x)
        return x

    return loop(step)


# By the case: what is called, and what the sentence must say.
REFUSED = {
    "a shared variable in a step": (
        lambda: loop(lambda x: x * SHARED).build(),
        ["the shared variable w", "lab.Parameter('w', w.get_value())", "take w as an argument"],
    ),
    "a variable of elsewhere in a step": (
        lambda: loop(lambda x: x * FOREIGN).build(),
        ["the variable w", "lab.Parameter('w', …)"],
    ),
    "a generator of elsewhere in a step": (
        lambda: loop(
            lambda x: x + pt.random.normal(rng=GENERATOR, return_next_rng=True)[1]
        ).build(),
        ["draws from noise", "lab.RandomState('rng')", "rng=rng"],
    ),
    "texts as numbers": (lambda: lab.State("x", np.array(["a"])), ["state x", "'a'", "number"]),
    "times as numbers": (lambda: lab.State("x", np.datetime64("2020")), ["state x", "2020"]),
    "an extended precision": (lambda: lab.State("x", np.longdouble(1)), ["state x", "number"]),
    "objects as numbers": (lambda: lab.Parameter("w", [None, {}]), ["parameter w", "number"]),
    "more steps than a whole number holds": (
        lambda: lab.trace(DOUBLED, {FOREIGN: 0.5, STEPS: 1e30}),
        ["given: n", "int64", "1e+30"],
    ),
    "numbers that are no array": (
        lambda: lab.trace(DOUBLED, {FOREIGN: [[1], [2, 3]], STEPS: 2}),
        ["given: w", "[[1], [2, 3]]"],
    ),
    "a whole number beyond all others": (
        lambda: lab.trace(DOUBLED, {FOREIGN: 10**400, STEPS: 2}),
        ["given: w", "10000"],
    ),
    "a batch of nothing": (
        lambda: lab.trace(vectorize_graph(DOUBLED, {FOREIGN: BATCH}), {BATCH: [], STEPS: 2}),
        ["zero size"],
    ),
    "steps beyond all numbers": (lambda: SQUARE.with_steps(10**400), ["n_steps = 1000", "4 GB"]),
    "a width without repr": (lambda: visual.draw(SQUARE, width=Mute()), ["width = <Mute"]),
    "a scale beyond all numbers": (
        lambda: visual.taps(SQUARE.trace()).png(10**400),
        ["scale = 1000", "such as 2"],
    ),
    "a scale below all numbers": (
        lambda: visual.taps(SQUARE.trace()).png(-(10**400)),
        ["scale = -1000", "such as 2"],
    ),
    "moving by a number": (
        lambda: visual.draw(SQUARE).save("walk.gif", animate=np.zeros(2)),
        ["animate = array([0., 0.])", "True or False"],
    ),
    "a number too large for its dtype": (
        lambda: lab.trace(pt.sum(SMALL * DOUBLED), {FOREIGN: 0.5, STEPS: 2, SMALL: 300}),
        ["given: small", "int8", "300"],
    ),
    "a complex variable": (
        lambda: lab.explain(abs(CIRCLING) ** 2, FACTOR),
        ["wrt = w", "complex128", "only real variables"],
    ),
    "complex numbers on the way": (
        lambda: lab.derivative(abs(pt.sum(CIRCLING * TURN)), TURN),
        ["wrt = turn", "derivative 1", "is complex, and has no"],
    ),
    "nothing to draw": (lambda: visual.draw(None), ["subject = None", "lab.Loop"]),
    "a name to draw": (lambda: visual.draw("square"), ["subject = 'square'", "lab.Loop"]),
    "taps that are a number": (lambda: visual.draw(SQUARE, taps=5), ["taps = 5", "dictionary"]),
    "orders to draw": (lambda: visual.draw(SQUARE, order=[1]), ["order = [1]", "whole number"]),
    "an order of a list": (lambda: SQUARE.trace(order=[1]), ["order = [1]", "0, 1, 2"]),
    "values that are a number": (lambda: SQUARE.trace(at=5), ["at = 5", "by name"]),
    "no rule": (lambda: lab.break_rule(SQUARE, None), ["rule = None", "never-accumulate"]),
    "a gradient of a number": (lambda: lab.eager.grad(5), ["function = 5", "a function"]),
    "no such primitive": (
        lambda: lab.structural.primitives["nope"],
        ["primitive = 'nope'", "where, cat, narrow and clamp"],
    ),
    "no such loop": (lambda: gallery.loops["squre"], ["squre", "did you mean 'square'?"]),
    "no such picture": (lambda: visual.draw(SQUARE, "tape"), ["'tape'", "did you mean 'tapes'?"]),
    "what has no repr": (lambda: lab.State("x", Mute()), ["state x", "Mute"]),
    "a name without repr": (lambda: visual.draw(SQUARE, Mute()), ["picture", "Mute"]),
    "a long value": (lambda: lab.State("x", LONG), ["state x", "xxx...xxx"]),
    "a long name": (lambda: visual.draw(SQUARE, LONG), ["picture", "xxx...xxx"]),
    "half a letter in a name": (lambda: lab.State("\ud800", 1.0), [r"'\ud800'", "printable"]),
    "no letter in a name": (lambda: lab.State("a\0b", 1.0), [r"'a\x00b'", "printable"]),
    "a step 3,000 calls deep": (lambda: deep(3000).trace(), ["one after the other", "shorten"]),
    "a parameter without a value": (
        lambda: lab.Loop.from_text("w*u", {"x": 1.0}, {"u": [1.0]}),
        ["'w' is no name", "parameters={'w': 0.5}", "sequences="],
    ),
    "a state of another shape": (
        lambda: loop(lambda x: x[:2], np.ones(3)).build(),
        ["step: x", "(3,)", "(2,)", "keeps its shape"],
    ),
    "a state whose shape changes as it runs": (
        lambda: loop(lambda x: x[: pt.cast(x.sum(), "int64") - 1], np.ones(3)).trace(order=0),
        ["step 0 makes x", "shape (2,)", "have (3,)"],
    ),
    "a folder with too long a name": (
        lambda: visual.taps(SQUARE.trace()).save(f"{LONG[:300]}/tape.svg"),
        ["path = 'xxx", "no folder"],
    ),
    "a scale that is no number": (lambda: visual.taps(SQUARE.trace()).png([]), ["scale = []"]),
    "a width that is none": (
        lambda: visual.draw(SQUARE, width="wide"),
        ["width = 'wide'", "50mm to 1000mm", "column (85mm)", "240 pixels"],
    ),
    "a width of nothing": (lambda: visual.draw(SQUARE, width=None), ["width = None"]),
    "a width that is true": (lambda: visual.draw(SQUARE, width=True), ["width = True"]),
    "a width below zero": (lambda: visual.draw(SQUARE, width="-85mm"), ["width = '-85mm'"]),
    "a column too narrow": (lambda: visual.draw(SQUARE, width="2cm"), ["width = '2cm'", "50mm"]),
    "a wall": (lambda: visual.draw(SQUARE, width="9999in"), ["width = '9999in'", "1000mm"]),
    "a long width": (lambda: visual.draw(SQUARE, width=LONG), ["width = 'xxx", "expected"]),
    "a picture that cannot be so narrow": (
        lambda: visual.draw(lab.gallery.loops["gap"], "phases", width="50mm"),
        [
            "width = '50mm'",
            "the picture phases of this loop needs",
            "mm for letters",
            "that or more",
        ],
    ),
    "steps the wrong way round": (lambda: visual.draw(SQUARE, steps="5:2"), ["'5:2'", "2 to 4"]),
    "steps beyond the last": (
        lambda: visual.draw(SQUARE, steps="2:9"),
        ["steps = '2:9'", "makes 4 steps", "0:4"],
    ),
    "no steps at all": (lambda: visual.draw(SQUARE, steps="2:2"), ["steps = '2:2'"]),
    "every other step": (lambda: visual.draw(SQUARE, steps=range(0, 4, 2)), ["range(0, 4, 2)"]),
    "steps of what has none": (
        lambda: visual.draw(SQUARE, "taps", steps="0:2"),
        ["option = 'steps'", "the options of the picture taps are width"],
    ),
    "a bare picture of words": (lambda: visual.draw(SQUARE, "phases", bare=True), ["bare"]),
    "an option that is no answer": (
        lambda: visual.draw(SQUARE, "stepgraph", all=1),
        ["all = 1", "True or False"],
    ),
    "a film of what stands still": (
        lambda: visual.draw(SQUARE, "genealogy").save("walk.gif"),
        ["path = 'walk.gif'", "steps to walk through", ".svg, .pdf"],
    ),
    "an SVG of what stands still": (
        lambda: visual.draw(SQUARE, "genealogy").save("walk.svg", animate=True),
        ["path = 'walk.svg'", "steps to walk through"],
    ),
    "a page that moves": (
        lambda: visual.draw(SQUARE).save("walk.pdf", animate=True),
        ["animate = True: 'walk.pdf'", ".gif"],
    ),
    "a figure of no width": (lambda: visual.figure(1, width=85), ["width = 85", "240 pixels"]),
    "a figure of no steps": (lambda: visual.figure(1, steps="x"), ["steps = 'x'", "2:5"]),
    "a figure with an option too many": (
        lambda: visual.figure(1, colour="red"),
        ["option = 'colour'", "the options of a figure are width"],
    ),
    "a format of its own": (
        lambda: visual.taps(SQUARE.trace()).rendered(".xyz"),
        ["suffix = '.xyz'", ".svg, .pdf"],
    ),
    "weights that are too few": (
        lambda: lab.compare(SQUARE, cost=np.ones(2)),
        ["cost", "4 steps"],
    ),
    "more weights than the memory holds": (lambda: SQUARE.trace(cost=ENDLESS), ["cost = range"]),
    "more taps than the memory holds": (
        lambda: lab.State("x", 1.0, taps=ENDLESS),
        ["taps of state x = range(0, 1000000000000)", "1,000,000"],
    ),
    "more values than the memory holds": (
        lambda: lab.Sequence("u", ENDLESS),
        ["values of sequence u = range(0, 1000000000000)", "array of numbers"],
    ),
    "more values of a graph": (
        lambda: lab.trace(DOUBLED, {FOREIGN: ENDLESS, STEPS: 2}),
        ["given: w = range(0, 1000000000000)"],
    ),
    "more Scans than there are": (
        lambda: visual.unrolled(lab.gallery.loops["square"].trace(), scans=ENDLESS),
        ["scans = range(0, 1000000000000)"],
    ),
    "more entries to clamp": (
        lambda: lab.structural.clamp(ENDLESS, 0.0, 1.0),
        ["x = range(0, 1000000000000)"],
    ),
    "a question misspelt": (
        lambda: visual.Exercise(SQUARE.trace(), "tap"),
        ["kind = 'tap': did you mean 'taps'?"],
    ),
    "a function that takes no array": (
        lambda: lab.first(SQUARE.trace(), int),
        ["value = <class 'int'>", "one True or False for each entry", "TypeError"],
    ),
    "a function that answers with another shape": (
        lambda: lab.first(SQUARE.trace(), lambda entries: [True] * 7),
        ["value = <function", "one True or False for each entry"],
    ),
    "a loop in the place of its trace": (
        lambda: SQUARE.derivative().verify(SQUARE),
        ["trace = Loop(", "expected a Trace of this graph"],
    ),
    "a node in the place of a trace": (
        lambda: SQUARE.derivative().verify(SQUARE.build().node),
        ["trace = ", "expected a Trace of this graph"],
    ),
    "a variable as a name": (lambda: SQUARE.with_values({FOREIGN: 1}), ["values = w", "names"]),
    "digits of another script": (lambda: SQUARE.trace(keep="٣"), ["keep = '٣'"]),
    "steps in digits of another script": (
        lambda: visual.draw(SQUARE, steps="٠:٢"),
        ["steps = '٠:٢'"],
    ),
    "a width in digits of another script": (
        lambda: visual.draw(SQUARE, width="٨٥mm"),
        ["width = '٨٥mm'"],
    ),
    "a tolerance below 0": (
        lambda: lab.check.compare(1.0, 1.0, -1),
        ["tolerance = -1", "0 or more"],
    ),
    "a gradient of a number, checked": (
        lambda: lab.check.gradient(5, FOREIGN, FOREIGN, {FOREIGN: 1.0}),
        ["cost = 5", "variable of PyTensor"],
    ),
    "a step to nowhere": (
        lambda: lab.check.finite_differences(float, 1.0, float("nan")),
        ["step = nan"],
    ),
    "a huge film": (lambda: visual.draw(SQUARE).save("walk.gif", 100), ["scale = 100", "pixels"]),
    "a huge image": (lambda: visual.taps(SQUARE.trace()).png(1e6), ["scale = 1000000.0", "pixels"]),
}


@pytest.fixture
def limit_of_pytensor():
    """Python's limit of calls as PyTensor sets it; PyMC, once it was imported, has raised it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(3000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("limit_of_pytensor")
@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_told_in_a_sentence(case):
    call, says = REFUSED[case]
    with pytest.raises(lab.LabError) as caught:
        call()
    told = str(caught.value)
    check_sentence(told)
    for part in says:
        assert part in told, told


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: gallery.loops["squre"], KeyError),
        (lambda: lab.structural.primitives[5], KeyError),
        (lambda: visual.draw(None), TypeError),
        (lambda: lab.compiled(SQUARE, mode=5), ValueError),
    ],
)
def test_a_refusal_is_also_what_python_expects(call, kind):
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, lab.LabError)
    assert not str(caught.value).startswith(("'", '"'))  # a KeyError's own text is quoted


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


DRAW = ["draw", "taps", "--loop", "square"]
LINES = {
    "a scale too small": ([*DRAW, "-o", "a.png", "--scale", "0.05"], ["scale = 0.05", "or more"]),
    "values nested without end": ([*DRAW, "-o", "-", "--at", f"x={'[' * 9999}"], ["--at x=[[["]),
    "an exit for a loop": (["draw", "taps", "--loop", "sys:exit", "-o", "-"], ["SystemExit"]),
    "a width misspelt": ([*DRAW, "-o", "-", "--width", "colum"], ["width = 'colum'", "column"]),
    "steps misspelt": ([*DRAW, "-o", "-", "--steps", "2-5"], ["--steps 2-5", "2:5"]),
    "steps that are names": (
        ["draw", "tapes", "--loop", "square", "-o", "-", "--steps", "a:b"],
        [
            "steps = 'a:b'",
            "2:5",
        ],
    ),
    "a text that moves": ([*DRAW, "-o", "-", "--animate"], ["--animate", ".svg"]),
    "a format that is none": ([*DRAW, "-o", "walk.avi"], ["'walk.avi'", ".gif", ".pdf"]),
    "a loop misspelt": (["draw", "taps", "--loop", "squre", "-o", "-"], ["did you mean square?"]),
    "a picture misspelt": (["draw", "tape", "--loop", "square", "-o", "-"], ["mean 'tapes'?"]),
    "a command misspelt": (["drew"], ["command = 'drew'", "did you mean 'draw'?"]),
    "a long value": (["draw", LONG, "--loop", "square", "-o", "-"], ["picture = 'xxx"]),
    "a value of nothing": ([*DRAW, "-o", "-", "--at==3"], ["at = ''", "x"]),
}


@pytest.mark.parametrize("case", LINES)
def test_a_wrong_command_line_is_told_in_a_sentence(case, capsys, folder):
    words, says = LINES[case]
    assert main(words) == 2
    told = capsys.readouterr().err
    check_sentence(told.removesuffix("\n"))
    for part in says:
        assert part in told
    assert list(folder.iterdir()) == []


def test_taps_need_no_equals_sign(capsys):
    assert main([*DRAW, "-o", "-", "--taps", "-2,-1"]) == 0
    spaced = capsys.readouterr().out
    assert main([*DRAW, "-o", "-", "--taps=-2,-1"]) == 0
    assert capsys.readouterr().out == spaced


def scantape(*words, **options):
    command = [sys.executable, "-m", "scantape", *words]
    return subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_screen_that_cannot_be_written_is_told():
    with open("/dev/full", "w") as full:
        done = scantape(*DRAW, "-o", "-", stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith("scantape: out = '-': the screen cannot be written: No space")
    check_sentence(done.stderr.removesuffix("\n"))


def test_a_terminal_without_letters_shows_what_it_can():
    done = scantape(
        *DRAW, "-o", "-", stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "x ? sit-sot" in done.stdout


MESSAGES = {
    "without a number": {"key": ["order"], "value": 2},
    "without a key": {"number": 1, "value": 2},
    "without a value": {"number": 1, "key": ["order"]},
    "a key that is no list": {"number": 1, "key": "order", "value": 2},
    "nothing": None,
    "a text": "order",
}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_without_its_parts_is_told(case):
    bench = Workbench(view="taps")
    before = bench.svg
    bench.receive(MESSAGES[case])
    told = bench.form["problem"]["text"]
    check_sentence(told)
    assert told.startswith("message = ")
    assert "a number, a key and a value" in told
    assert bench.svg == before


def test_an_array_that_is_changed_later_changes_no_loop():
    start, values, weight = np.array(0.5), np.array([0.1, 0.2]), np.array([0.9])
    made = lab.Loop(
        lambda u, x, w: w[0] * x + u,
        states=(lab.State("x", start),),
        sequences=(lab.Sequence("u", values),),
        parameters=(lab.Parameter("w", weight),),
    )
    again = SQUARE.with_values({"x": start})
    for array in (start, values, weight):
        array[...] = 7.0
    assert made.trace(order=0).outputs[0] == 0.9 * (0.9 * 0.5 + 0.1) + 0.2
    assert again.trace(order=0).outputs[0] == 0.5**16


def test_a_loop_of_weights_is_compared_whatever_holds_them():
    weights = [1.0, 0.0, 2.0, 1.0]
    first, second = (lab.compare(SQUARE, cost=given) for given in (weights, np.array(weights)))
    assert first.rows == second.rows


def test_the_command_leaves_the_filters_of_warnings_as_they_were():
    before, shown = list(warnings.filters), warnings.showwarning
    assert main([*DRAW, "-o", "-"]) == 0
    assert (list(warnings.filters), warnings.showwarning) == (before, shown)


OWN = """
import sys
class Own(BaseException): pass
def pair(): return 1, 2
def many(): return 1, 2, 3, 4
def given():
    import lab
    graph = lab.gallery.loops["square"].build()
    return graph.buffers["x"][-1], graph.inputs["x"], 5
def own(): raise Own("mine")
def generator(): raise GeneratorExit
def closes():
    import lab
    sys.stdout.close()
    return lab.gallery.loops["square"]
def takes():
    import lab
    sys.stdout = None
    return lab.gallery.loops["square"]
"""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["why", "theirs:pair"], "theirs:pair = (1, 2): expected (cost, wrt)"),
        (["explain", "theirs:pair"], "(cost, wrt)"),
        (["compare", "theirs:pair"], "(cost, wrt)"),
        (["why", "theirs:many"], "theirs:many = (1, 2, 3, 4): expected (cost, wrt)"),
        (["why", "theirs:given"], "values of inputs in a dictionary"),
        (["why", "theirs:own"], "NAME theirs:own: Own: mine"),
        (["draw", "taps", "--loop", "theirs:generator", "-o", "-"], "GeneratorExit"),
        (["draw", "taps", "--loop", "theirs:closes", "-o", "-"], "the screen cannot be written"),
    ],
)
def test_what_a_function_of_ones_own_returns_or_does_is_told_in_a_line(folder, words, says):
    (folder / "theirs.py").write_text(OWN)
    done = subprocess.run(
        [sys.executable, "-m", "scantape", *words],
        cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))},
    )  # fmt: skip
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert says in done.stderr
    check_sentence(done.stderr.removesuffix("\n"))


def test_a_long_line_of_values_is_read_in_a_moment():
    """Quadratic, the first text alone takes many minutes."""
    for text in ("x = 1" + " " * 300_000, "x = 1" + " " * 300_000 + "y", " " * 300_000 + "x"):
        with contextlib.suppress(lab.LabError):
            written("x**2", text)
    assert written("x**2", " x = 0.5 ").states[0].initial == 0.5


def test_what_a_page_sends_as_a_step_is_no_traceback():
    stepper = visual.Stepper(visual.tapes(SQUARE.trace()))
    before = stepper.step
    for wrong in ([1], {"a": 1}, "1", 99, 1.5):
        stepper.set_state({"step": wrong})
        assert stepper.step == before


def test_a_moment_that_is_not_there_is_refused_by_the_trait():
    bench = Workbench(view="tapes")
    step = bench.step
    for wrong in (99, -2, "1", None):
        with pytest.raises((ArgumentError, traitlets.TraitError)):
            bench.step = wrong
    assert bench.step == step
    bench.set_state({"step": 99})  # from a page whose picture has changed meanwhile
    assert bench.step == step


def named(*names):
    """A loop whose variables, output and Scan have odd names."""
    state, sequence, parameter, output, title = names

    def step(**given):
        value = given[state] * given[parameter] + given[sequence]
        return [value, value**2]

    return lab.Loop(
        step,
        states=(lab.State(state, 0.5),),
        sequences=(lab.Sequence(sequence, [0.1, 0.2]),),
        parameters=(lab.Parameter(parameter, 0.9),),
        outputs=(output,),
        name=title,
    )


NAMES = {
    "markup": ("<b>&amp;", '"quoted"', "]]>", "<!--", "</svg><script>"),
    "TeX and more": (r"\alpha_{t}", "$x$", "%", "🙂", r"\end{document}"),
    "DOT": ('a"->b', "a;b", "{c|d}", r"\N", "digraph{}"),
    "other scripts": ("θ̂", "переменная", "变量", "متغير", "é"),
    "long": ("x" * 300, "y" * 300, "z" * 300, "o" * 300, "n" * 300),
}
STARTS = {"svg": b"<svg", "html": b"<!DOCTYPE", "txt": b""}
IMAGES = {"pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.mark.parametrize("case", NAMES)
def test_odd_names_stand_in_every_picture_and_format(case, folder):
    starts = {**STARTS, **(IMAGES if case == "TeX and more" else {})}  # which take long
    visual.export(named(*NAMES[case]), "set", [*starts, "dot"], order=1)
    kinds = {path.stem for path in Path("set").glob("*.svg")}
    assert len(kinds) > 9
    for suffix, start in starts.items():
        files = list(Path("set").glob(f"*.{suffix}"))
        assert {path.stem for path in files} >= kinds
        assert all(path.read_bytes().startswith(start) for path in files)
    assert {path.stem for path in Path("set").glob("*.dot")} == {"genealogy", "stepgraph"}
    for path in Path("set").glob("*.svg"):
        ElementTree.parse(path)


def test_of_a_link_its_target_is_written(folder):
    (folder / "real.svg").write_text("old")
    (folder / "link.svg").symlink_to("real.svg")
    visual.taps(SQUARE.trace()).save("link.svg")
    assert (folder / "link.svg").is_symlink()
    assert (folder / "real.svg").read_text(encoding="utf-8").startswith("<svg")


def test_permissions_stay_and_read_only_is_respected(folder):
    scene = visual.taps(SQUARE.trace())
    scene.save("a.svg").chmod(0o640)
    scene.save("a.svg")
    assert (folder / "a.svg").stat().st_mode & 0o777 == 0o640
    (folder / "a.svg").write_text("kept")
    (folder / "a.svg").chmod(0o444)
    with pytest.raises(ArgumentError, match=r"a\.svg.* cannot be written: it is read-only"):
        scene.save("a.svg")
    assert (folder / "a.svg").read_text() == "kept"
    assert [path.name for path in folder.iterdir()] == ["a.svg"]


def test_a_failed_export_leaves_no_folder(folder, monkeypatch):
    with pytest.raises(lab.LabError):
        visual.export(SQUARE, "set", ["doc"])
    with pytest.raises(lab.LabError):
        visual.export(SQUARE, "set", order=-1)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(lab.LabError, match="No space left"):
        visual.export(SQUARE, "set")
    assert list(folder.iterdir()) == []


def test_a_loop_is_called_as_in_its_module(folder, monkeypatch, capsys):
    (folder / "of_mine.py").write_text(
        "import lab\ndecay = lab.Loop(lambda x: x/2, states=(lab.State('x', 1.0),), n_steps=2)\n"
    )
    monkeypatch.syspath_prepend(folder)
    assert main(["draw", "taps", "--loop", "of_mine:decay", "-o", "-"]) == 0
    assert "scan_fn" not in capsys.readouterr().out


def test_a_scene_is_told_in_a_line():
    told = repr(visual.draw(SQUARE, "tapes", order=2))
    assert len(told.splitlines()) == 1
    assert len(told) < 200


DELAYS = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0]  # seconds; the imports take about half of one


@pytest.mark.parametrize("delay", DELAYS)
def test_an_interrupt_ends_it_without_a_trace(delay):
    words = ["draw", "values", "--loop", "rnn", "--order", "4", "-o", "-"]
    code = (
        "import scantape as s, signal; signal.signal(signal.SIGINT, s.stop); print('!', flush=True)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", f"{code}; s.command()", *words],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout.readline() == "!\n"  # Python itself has started, and what holds from then on
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert "Traceback" not in told
    assert (run.returncode, told) in [(130, "scantape: stopped.\n"), (0, "")], told


@pytest.mark.parametrize(("words", "status"), [(["loops"], 0), (["--nonsense"], 2)])
def test_an_interrupt_after_the_last_word_changes_nothing(words, status):
    code = (
        "import os, signal, scantape\n"
        "class Late:\n"  # what a module holds goes after Python's own handling of signals
        "    def __del__(self, kill=os.kill, me=os.getpid(), what=signal.SIGINT): kill(me, what)\n"
        "late = Late()\n"
        "scantape.command()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == status
    assert run.stdout + run.stderr
