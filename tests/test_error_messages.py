"""Error messages for wrong arguments, command lines, and files; and behavior at interrupts.

Every message is one printable sentence that names the argument and quotes the value.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import Mute, check_sentence, message_of
from pytensor.graph.replace import vectorize_graph

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.cli.main import main
from visual.scene.formats import report_path
from visual.workbench.texts import written_loop

ROOT = Path(__file__).parent.parent
SQUARE = gallery.loops["square"]
SHARED = pytensor.shared(np.array(0.5), name="w")
GENERATOR = pytensor.shared(np.random.default_rng(0), name="noise")
W, OTHER, BATCH, STEPS = pt.dscalar("w"), pt.dscalar("w"), pt.dvector("batch"), pt.lscalar("n")
DOUBLED = pytensor.scan(lambda x: x * 2, outputs_info=[W], n_steps=STEPS, return_updates=False)[-1]
LONG, HUGE, ENDLESS = "x" * 100_000, 10**400, range(10**12)


def loop(step, initial=0.5):
    return lab.Loop(step, states=(lab.State("x", initial),), n_steps=2)


def random_step(x):
    return x + pt.random.normal(rng=GENERATOR, return_next_rng=True)[1]


def deep_step(x):
    for _ in range(3000):
        x = pt.sin(x)
    return x


def shrinking_step(x):
    return x[: pt.cast(x.sum(), "int64") - 1]


def draw(picture="tapes", **options):
    return visual.draw(SQUARE, picture, **options)


def trace(given, outputs=DOUBLED):
    given = {STEPS: 2, OTHER: 1.0, **given}  # OTHER is not an input of the graph, and is ignored
    return lab.trace(outputs, given if BATCH in given else {W: 0.5, **given})


# A call with one argument, the start of its message before " = value", and wrong values.
WRONG_VALUES = [
    (lambda v: lab.State("x", 1.0, taps=v), "taps of state x", [ENDLESS]),
    (lambda v: lab.Sequence("u", v), "values of sequence u", [ENDLESS]),
    (lambda v: trace({W: v}), "given: w", [[[1], [2, 3]], HUGE, 1 + 2j]),
    (lambda v: trace({pt.scalar("flag", dtype="bool"): v}), "given: flag", [0.5]),
    (lambda v: trace({pt.fscalar("single"): v}), "given: single", [1e300]),
    (lambda v: draw(given=v), "given", [5]),
    (SQUARE.with_steps, "n_steps", [HUGE]),
    (SQUARE.with_values, "values", [{W: 1}]),
    (lambda v: SQUARE.trace(cost=v), "cost", [ENDLESS]),
    (lambda v: SQUARE.trace(keep=v), "keep", ["٣"]),
    (lambda v: lab.structural.clamp(v, 0.0, 1.0), "clamp: x", [ENDLESS]),
    (lambda v: SQUARE.derivative().verify(v), "trace", [SQUARE]),
    (visual.draw, "subject", [None, "square"]),
    (draw, "picture", [Mute(), LONG, "tape"]),
    (lambda v: draw(width=v), "width", [None, Mute(), LONG, "wide", "-85mm", "2cm", "٨٥mm"]),
    (lambda v: draw(all=v), "all", [1, "yes"]),
    (lambda v: draw(at=v), "at", [3]),
    (lambda v: draw("memory", scan=v), "scan", [0, 9]),
    (lambda v: draw(steps=v), "steps", ["5:2", range(0, 4, 2), "٠:٢", "2:9"]),
    *((lambda v, p=p: draw(p, step=v), "step", [4, -1]) for p in ("unrolled", "ssa", "tapes")),
    (lambda v: visual.dot_product(lab.dot_product(SQUARE), v), "step", [99, -1]),
    (lambda v: visual.Workbench(SQUARE, moment=v), "moment", [np.zeros(3)]),
    (lambda v: visual.Question("?", v, "One.", ("a", "b")), "answer", [np.zeros(3), "c"]),
    (lambda v: draw().save("walk.gif", animate=v), "animate", [np.zeros(2)]),
    (lambda v: draw().save("walk.gif", v), "scale", [100]),
    (lambda v: draw("genealogy").save(v, animate=True), "path", ["walk.gif", "walk.svg"]),
    (lambda v: draw("taps").png(v), "scale", [HUGE, 1e6, []]),
    (lambda v: draw("taps").rendered(v), "suffix", [".xyz"]),
    (lambda v: draw("taps").save(v), "path", [f"{LONG[:300]}/tape.svg", ""]),
    (lambda v: visual.unrolled(SQUARE.trace(), scans=v), "scans", [ENDLESS]),
    (lambda v: visual.Page("square", orders=v), "orders", [9, -1]),
    (lambda v: visual.machine(SQUARE.trace(), moment=v), "moment", [99, -2, "1"]),
    (lambda v: visual.machine(SQUARE.trace(), entry=v), "entry", [1, 99, -1, "1"]),
    (lambda v: visual.Question("?", 1, "One.").check(1, v), "tries", [0, True]),
    (visual.figure, "number", [9, True]),
]
# A call, the start of its message, and other parts of it: the cause, and the fix.
MESSAGES = [
    (lambda: loop(lambda x: x * SHARED).build(), "step ", "lab.Parameter('w', w.get_value())"),
    (lambda: loop(lambda x: x * W).build(), "step ", "variable w", "lab.Parameter('w', …)"),
    (lambda: loop(lambda y: y), "step = <function ", "the variables x; missing ", " 'y'."),
    (lambda: loop(random_step).build(), "step ", "noise", "lab.RandomState('rng')", "rng=rng"),
    (lambda: loop(deep_step).trace(), "", "shorten the step", "sys.setrecursionlimit"),
    (lambda: loop(shrinking_step, np.ones(3)).trace(order=0), "scan_fn: step 0 ", "(2,)", "(3,)"),
    (lambda: lab.Loop.from_text("w*u", {"x": 1.0}, {"u": [1.0]}), "step: 'w' ", "={'w'"),
    (lambda: lab.trace(DOUBLED, {STEPS: 2, OTHER: 1.0}), "given = w: ", "w and n", "another"),
    (lambda: trace({DOUBLED: 3.0}), "given = ", "inputs w and n", "computed"),
    (lambda: trace({BATCH: []}, vectorize_graph(DOUBLED, {W: BATCH})), "", "zero size"),
    (lambda: draw(width="wide"), "width = ", "50mm to 1000mm", "column (85mm)", "240 pixels"),
    (lambda: draw(steps="2:9"), "steps = '2:9': ", "0:4"),
    (lambda: draw().save("walk.pdf", animate=True), "animate = True: ", "'walk.pdf'", ".gif"),
    (lambda: lab.Loop(abs, outputs=5), "outputs = 5: ", 'a tuple of str, as in ("y",).'),
    (lambda: draw().save(f"{__file__}/x.svg"), "path = ", "is not a folder"),
    (lambda: report_path(".", ("",), ""), "path = '.': ", "got a folder"),
    (lambda: draw(stpe=1), "stpe = 1: the picture tapes has the options scan, step"),
    (lambda: visual.Workbench(ordr=2), "choice = 'ordr': did you mean 'order'?"),
]


def quote_start(value):
    """Return the start of a value, as a message quotes it."""
    return "<Mute" if isinstance(value, Mute) else repr(value)[:15]


@pytest.fixture
def limit_of_pytensor():
    """Set Python's recursion limit as PyTensor does, because an import of PyMC raises the limit."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(3000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    ("call", "start", "value"),
    [
        pytest.param(call, start, value, id=f"{start}-{quote_start(value)!a}")
        for call, start, values in WRONG_VALUES
        for value in values
    ],
)
def test_a_message_starts_with_the_argument_and_its_value(call, start, value):
    message = message_of(lambda: call(value))
    expected = "w" if isinstance(value, dict) else quote_start(value)  # the key is the wrong part
    assert message.startswith((f"{start} = {expected}", f"{start}: {expected}")), message


@pytest.mark.usefixtures("limit_of_pytensor")
@pytest.mark.parametrize(("call", "start", "parts"), [(c, s, p) for c, s, *p in MESSAGES])
def test_a_message_names_the_cause_and_the_fix(call, start, parts):
    message = message_of(call)
    assert message.startswith(start), message
    assert [part for part in parts if part not in message] == [], message


def test_a_message_that_does_not_quote_the_value_is_detected():
    def other(value):
        raise ArgumentError(f"order = {value + 1}: expected 0.")

    with pytest.raises(AssertionError):
        test_a_message_starts_with_the_argument_and_its_value(other, "order", 3)


def test_an_error_also_has_the_type_that_python_uses():
    for call, kind in (
        (lambda: gallery.loops["squre"], KeyError),
        (lambda: visual.draw(None), TypeError),
        (lambda: lab.compiled(SQUARE, mode=5), ValueError),
    ):
        with pytest.raises(kind) as caught:
            call()
        assert isinstance(caught.value, lab.LabError)
        assert not str(caught.value).startswith(("'", '"'))  # as the text of a plain KeyError does


TAPS = ["draw", "taps", "--loop", "square"]
OUT = ["-o", "-"]
USER_MODULE = """
class Own(BaseException): pass
def pair(): return 1, 2
def own(): raise Own("mine")
def graph():
    import lab
    built = lab.gallery.loops["square"].build()
    return built.buffers["x"][-1], built.inputs["x"]
def given(): return *graph(), 5
def closes():
    import lab, sys
    sys.stdout.close()
    return lab.gallery.loops["square"]
"""
SQUARE_TAPES, PAGE = "draw tapes --loop square", "page --out x.html"
COMMANDS = [  # the command line, and parts of the message
    ("drew", "COMMAND drew: did you mean 'draw'?"),
    (["draw", LONG, "--loop", "square", *OUT], "PICTURE xxx"),
    ("draw tapes -o -", "--loop"),
    ("draw taps --loop squ -o -", "did you mean square?"),
    ("draw tapes --loop math:sqrt -o x.svg", "math:sqrt", "TypeError"),
    (f"{SQUARE_TAPES} --taps=a -o x.svg", "--taps a", "-2,-1"),
    (f"{SQUARE_TAPES} --taps 0 -o x.svg", "--taps 0: state x: expected taps below 0"),
    (f"{SQUARE_TAPES} --cost 1,a -o x.svg", "--cost 1,a", "a weight for each step"),
    (f'{SQUARE_TAPES} --at x="a" -o x.svg', "x", "'a'", "number"),
    ([*TAPS, *OUT, "--at", f"x={'[' * 9999}"], "--at x=[[["),
    (f"{SQUARE_TAPES} --steps 2-5 -o -", "--steps 2-5", "2:5"),
    (f"{SQUARE_TAPES} --order two -o x.svg", "--order two: expected an integer."),
    (f"{SQUARE_TAPES} --scale big -o x.png", "--scale big: expected a number."),
    (f"{SQUARE_TAPES} --scale 0 -o x.png", "--scale 0: expected a number of 0.1 or more."),
    (f"{SQUARE_TAPES} --animate -o -", "--animate", ".svg"),
    (f"{SQUARE_TAPES} -o walk.avi", "--out walk.avi", ".gif", ".pdf"),
    ("page --loops squ --out x.png", "--out x.png", "ends in .html"),
    (f"{SQUARE_TAPES} -o missing/x.svg", "--out missing/x.svg"),
    ([*TAPS, "-o", "\ud800.svg"], "--out"),
    ([*TAPS, *OUT, "--steps", "\ud800"], "steps"),
    ([*TAPS, *OUT, "--order", "2" * 5000], "--order"),
    ("draw figure1 --loop square -o -", "--loop", "not an option of figures"),
    ("draw figure9 -o -", "PICTURE figure9: expected a figure, 1 to 8."),
    ("compiled square --scan 9", "--scan 9: expected 1; there is one Scan."),
    ("explain square -o x.svg", ".html or .txt"),
    ("why user_module:pair", "user_module:pair: expected", "got (1, 2) of type tuple"),
    ("why user_module:given", "given a dictionary with the values of inputs"),
    ("why user_module:own", "NAME user_module:own: Own: mine"),
    ("why user_module:graph", "no value for x. Use --at x=…"),
    ("why user_module:graph --at y=1", "--at 'y': expected one of x"),
    ("why user_module:graph --at x=1.5 --steps 4", "For a graph, pass --order or --at."),
    (f"{PAGE} --loops math:pi", "--loops math:pi: expected a lab.Loop"),
    (f"{PAGE} --taps=-1", " or rnn first, as in square=-2,-1."),
    (f"{PAGE} --taps=ring=-1", "expected square, fibonacci, "),
    (f"{PAGE} --loops square --taps=-1//-2", "taps as in -2,-1"),
    (f"{PAGE} --orders one", "--orders one"),
    (f"{PAGE} --costs mean", "--costs mean: expected one of last or sum"),
    ("export --loop square -o -", "--out -: expected a folder."),
    (f"{SQUARE_TAPES} --steps 999999999 -o -", "--steps 999999999: the values of all steps need"),
    (f"{SQUARE_TAPES} --order 99 -o -", "--order 99: every order doubles"),
]


@pytest.mark.parametrize(("typed", "parts"), [(typed, parts) for typed, *parts in COMMANDS])
def test_a_wrong_command_line_fails_with_one_sentence(typed, parts, capsys, folder, monkeypatch):
    (folder / "user_module.py").write_text(USER_MODULE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    try:
        status = main(typed.split() if isinstance(typed, str) else typed)
    except SystemExit as end:  # argparse
        status = end.code
    assert status == 2
    message = capsys.readouterr().err
    assert message.startswith("scantape: ")
    check_sentence(message.removesuffix("\n"))
    assert [part for part in parts if part not in message] == [], message
    assert [path.name for path in folder.iterdir()] == ["user_module.py"]


def test_a_loop_is_named_after_its_variable_and_taps_need_no_equals_sign(
    folder, monkeypatch, capsys
):
    before, shown = list(warnings.filters), warnings.showwarning
    (folder / "of_mine.py").write_text(
        "import lab\ndecay = lab.Loop(lambda x: x/2, states=(lab.State('x', 1.0),), n_steps=2)\n"
    )
    monkeypatch.syspath_prepend(folder)
    printed = []
    for taps in ([], ["--taps", "-2"], ["--taps=-2"]):
        assert main(["draw", "taps", "--loop", "of_mine:decay", *OUT, *taps]) == 0
        printed.append(capsys.readouterr().out)
        assert "scan_fn" not in printed[-1]
    assert printed[0] != printed[1] == printed[2]
    assert (list(warnings.filters), warnings.showwarning) == (before, shown)


def scantape(*words, **options):
    """Run the command in a process, and return the finished process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    command = [sys.executable, "-m", "scantape", *words]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, env=environment, **options)


def check_closed_output(result):
    assert result.returncode == 2
    assert result.stderr.startswith("scantape: out = '-': cannot write to standard output: ")
    check_sentence(result.stderr.removesuffix("\n"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_is_full_or_closed_is_an_error_message(folder):
    with open("/dev/full", "w") as full:
        check_closed_output(scantape(*TAPS, *OUT, stdout=full))
    (folder / "user_module.py").write_text(USER_MODULE)
    words = ["draw", "taps", "--loop", "user_module:closes", *OUT]
    check_closed_output(scantape(*words, cwd=folder, stdout=subprocess.PIPE))
    check_closed_output(scantape(*TAPS, *OUT, preexec_fn=lambda: os.close(1)))
    reader, writer = os.pipe()
    os.close(reader)
    for words in ([*TAPS, *OUT], ["--help"]):
        result = scantape(*words, stdout=writer)
        assert (result.returncode, result.stderr) == (141, "")  # as after the signal SIGPIPE


def test_an_ascii_terminal_shows_replacements():
    result = scantape(*TAPS, *OUT, stdout=subprocess.PIPE, env={"PYTHONIOENCODING": "ascii"})
    assert (result.returncode, result.stderr) == (0, "")
    assert "x ? sit-sot" in result.stdout


@pytest.mark.parametrize("delay", [0.0, 0.1, 1.0])  # seconds; imports take 0.5
def test_an_interrupt_ends_the_command_without_a_traceback(delay):
    words = ["draw", "values", "--loop", "rnn", "--order", "4", *OUT]
    code = (
        "import scantape as s, signal; signal.signal(signal.SIGINT, s.stop); print('!', flush=True)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", f"{code}; s.command()", *words],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout.readline() == "!\n"  # the handler is installed
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=60)
    assert (run.returncode, stderr) in [(130, "scantape: stopped.\n"), (0, "")], stderr


def test_long_texts_of_values_are_parsed_in_linear_time():
    """A parser with quadratic time needs many minutes for the first text."""
    for text in ("x = 1" + " " * 300_000, "x = 1" + " " * 300_000 + "y", " " * 300_000 + "x"):
        with contextlib.suppress(lab.LabError):
            written_loop("x**2", text)
    assert written_loop("x**2", " x = 0.5 ").states[0].initial == 0.5


def test_a_later_change_of_an_array_changes_no_loop():
    initial, values, weight = np.array(0.5), np.array([0.1, 0.2]), np.array([0.9])
    linear = lab.Loop.from_text("sum(w)*x + u", {"x": initial}, {"u": values}, {"w": weight})
    square = SQUARE.with_values({"x": initial})
    for array in (initial, values, weight):
        array[...] = 7.0
    assert linear.trace(order=0).outputs[0] == 0.9 * (0.9 * 0.5 + 0.1) + 0.2
    assert square.trace(order=0).outputs[0] == 0.5**16


def test_saving_follows_a_link_and_preserves_read_only_files(folder):
    (folder / "real.svg").write_text("old")
    (folder / "link.svg").symlink_to("real.svg")
    draw("taps").save("link.svg")
    assert (folder / "link.svg").is_symlink()
    (folder / "real.svg").chmod(0o444)
    with pytest.raises(ArgumentError, match=r"l\.svg.* cannot be written: the file is read-only"):
        draw("tapes").save("real.svg")
    assert (folder / "real.svg").read_text(encoding="utf-8") == draw("taps").svg()
    assert {path.name for path in folder.iterdir()} == {"real.svg", "link.svg"}


def test_failed_writes_leave_no_folder_and_no_changed_file(folder, monkeypatch):
    path = folder / "picture.svg"
    path.write_text("old")
    monkeypatch.setattr("os.replace", Mock(side_effect=OSError(28, "No space left on device")))
    for write in (lambda: visual.export(SQUARE, "set"), lambda: draw("taps").save(path)):
        with pytest.raises(lab.LabError, match="No space left"):
            write()
    assert path.read_text() == "old"
    assert list(folder.iterdir()) == [path]
