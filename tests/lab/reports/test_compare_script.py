"""Reports of comparisons: scripts that need pytensor and numpy alone, and are run here."""

import ast
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import known_mistakes
from graphs.hostile import EVIL, hostile_graph, strange
from strange_loops import HOSTILE

import lab
from lab.loops import gallery
from lab.reports.compare import against_differences
from lab.reports.compare.as_python import CannotWriteError, PythonWriter
from visual.cli.compare import compared
from visual.cli.main import main


def run_here(script):
    """The status of a script and what it prints, without waiting for another Python."""
    ast.parse(script)
    told = StringIO()
    with redirect_stdout(told), pytensor.config.change_flags(cxx=""):
        try:
            exec(compile(script, "report", "exec"), {"__name__": "__main__"})
        except SystemExit as error:
            return error.code, told.getvalue()
    return None, told.getvalue()


def names_in(script):
    """All that a script imports."""
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


@pytest.mark.parametrize(("name", "status"), [("delay_line", 1), ("square", 0)])
def test_a_report_runs_by_itself(name, status, tmp_path):
    if name in gallery.loops:
        found = lab.compare(gallery.loops[name], order=1)
    else:
        found = lab.compare(*getattr(known_mistakes, name)(), order=2)
    script = found.report()
    assert set(names_in(script)) == {"os", "sys", "numpy", "pytensor"}
    path = tmp_path / "report.py"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert f"PyTensor {pytensor.__version__}" in done.stdout
    assert ("DIFFERENT" in done.stdout) == bool(status)
    assert "finite differences" in done.stdout


@pytest.mark.parametrize("name", ["newton", "lookup"])
def test_reports_of_loops_agree_with_pytensor(name):
    """Loops that stop, with windows, with whole numbers: written as calls of pytensor.scan."""
    script = lab.compare(gallery.loops[name], order=1).report()
    status, told = run_here(script)
    assert status == 0, told
    assert "the same" in told
    assert "pytensor.scan(" in script


def test_a_report_tells_where_the_scans_stand():
    """By the ids that the graph which it builds is printed with, by the line, and by the phase."""
    script = lab.compare(*known_mistakes.delay_line(), order=1).report()
    (place,) = re.findall(r"^#   scan_fn: (\[id \w+\]) in pytensor.dprint\(cost\)", script, re.M)
    start, end = script.index("import sys\n\nimport pytensor.scalar"), script.index("\ncheck = ")
    made = {"np": np, "pytensor": pytensor}
    exec(script[start:end], made)
    printed = pytensor.dprint(made["cost"], file="str").splitlines()
    assert any("Scan{scan_fn" in line and place in line for line in printed)
    assert re.search(r"^#   - dy0: .*, of phase 8: ", script, re.M)
    assert "Where the Scans stand" not in lab.compare(gallery.loops["square"], order=1).report()


def test_reports_of_mistakes():
    found = lab.compare(*known_mistakes.undefined_twice(), order=1)
    status, told = run_here(found.report())
    assert status == 1
    assert "DIFFERENT" in told
    assert "gradient by v" in told
    found = lab.compare(*known_mistakes.mixed(), order=1)
    status, told = run_here(found.report())
    assert (status, "FAILS: AssertionError" in told) == (1, True)


def test_a_report_sees_another_number():
    """The script compares by itself, and does not repeat what was found here."""
    script = lab.compare(gallery.loops["logistic"], order=1).report()
    wrong = script.replace("gradients = grad(target, ", "gradients = grad(2 * target, ")
    assert run_here(script)[0] == 0
    assert run_here(wrong)[0] == 1


def logarithms(start):
    x = pt.dscalar("x")
    xs = pytensor.scan(pt.log, outputs_info=[x], n_steps=3, return_updates=False)
    return xs[-1], x, {x: start}


def repeated_squares():
    """Steps up to 0.04 away leave the numbers: the square of the square … is infinite."""
    x = pt.dscalar("x")
    xs = pytensor.scan(
        lambda x: x**2, outputs_info=[x], n_steps=pt.constant(15), return_updates=False
    )
    return xs[-1], x, {x: 1.0}


def of_nothing():
    x, u = pt.dscalar("x"), pt.dvector("u")
    xs = pytensor.scan(lambda u, x: x * u, [u], outputs_info=[x], return_updates=False)
    return xs.sum() + x, [x, u], {x: 0.5, u: np.zeros(0)}


def truncated():
    x = pt.dscalar("x")
    xs = pytensor.scan(
        lambda x: x**2, outputs_info=[x], n_steps=5, truncate_gradient=2, return_updates=False
    )
    return xs[-1], x, {x: 0.9}


def of_whole_numbers():
    x, k = pt.dscalar("x"), pt.lscalar("k")
    xs = pytensor.scan(lambda k: k * 2, outputs_info=[k], n_steps=3, return_updates=False)
    return xs[-1], x, {x: 0.4, k: 3}


def of_the_middle():
    x = pt.dscalar("x")
    xs = pytensor.scan(lambda x: x**2, outputs_info=[2 * x], n_steps=3, return_updates=False)
    middle = xs.owner.inputs[0]
    return xs[-1], middle, {x: 0.4}


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (logarithms(0.9), "where finite differences give a number, the same"),
        (repeated_squares(), "the same"),
        (of_nothing(), "the same"),
        (truncated(), "not to be compared"),
        (of_the_middle(), ""),
        (of_whole_numbers(), ""),
    ],
)
def test_reports_of_agreement_find_no_difference(graph, words):
    found = lab.compare(*graph)
    assert found.agree
    status, told = run_here(found.report())
    assert (status, "DIFFERENT" in told) == (0, False), told
    assert words in told


@pytest.mark.parametrize("name", [EVIL, HOSTILE, "__import__", "print"])
def test_names_become_texts(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cost, x = hostile_graph(name)
    script = lab.compare(cost, x, {x: 0.9}).report()
    assert script.isascii()
    assert run_here(script)[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer, (cost, x, _) = PythonWriter(), strange()
    writer.declare(x)
    with pytest.raises(CannotWriteError, match="Strange"):
        writer.write([cost])
    found = lab.compare(*strange())
    assert found.agree  # of the operation's wrong gradient both make the same
    assert found.checks[0].admits(found.checks[0].ours) is False
    script = found.report()
    status, told = run_here(script)
    assert status == 0
    assert "ours" in told
    assert "#   Strange" in script
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["strange_without_values", "strange_and_shared"])
def test_reports_of_what_is_imported_have_all_values(name):
    status, told = run_here(compared(f"graphs.hostile:{name}", 1).report())
    assert (status, "DIFFERENT" in told) in ((1, True), (0, False))
    assert ("DIFFERENT" in told) == (name == "strange_without_values")


def test_what_cannot_be_written_is_imported(tmp_path, monkeypatch, capsys):
    script = compared("graphs.hostile:strange", 1).report()
    assert "getattr(importlib.import_module('graphs.hostile'), 'strange')()" in script
    status, told = run_here(script)
    assert (status, "DIFFERENT" in told) == (1, True)
    evil = lab.compare(*strange(), origin=(EVIL, EVIL))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModuleNotFoundError):
        run_here(evil.report())
    assert list(tmp_path.iterdir()) == []


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "square"]) == 0
    assert "Both pullbacks give the same gradients, order 1." in capsys.readouterr().out
    mine = "graphs.known_mistakes:undefined_twice"
    for name in ("report.py", "page.html", "picture.svg", "words.txt"):
        assert main(["compare", mine, "-o", name]) == 0
        assert name in capsys.readouterr().out
    assert "sys.exit" in (tmp_path / "report.py").read_text()
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "In words" in page
    assert "<script" not in page
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").startswith("<svg")
    words = (tmp_path / "words.txt").read_text(encoding="utf-8")
    assert "They differ from order 1: the gradient by v" in words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing"], "write module:function"),
        (["graphs.known_mistakes:scan"], "NAME graphs.known_mistakes:scan"),
        (["graphs.to_explain:of_input", "--order", "0"], "order = 0"),
        (["graphs.known_mistakes:STOPS"], "expected (cost, wrt)"),
        (["square", "-o", "x.doc"], "a comparison can be .py"),
        (["square", "-o", "nowhere/x.py"], "there is no folder"),
        (["square", "-o", "x.html", "--theme", "none"], "theme"),
    ],
)
def test_what_the_command_refuses(words, told, capsys):
    assert main(["compare", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(("factor", "status"), [(1.0, 0), (1.001, 1)])
def test_what_every_report_holds_compares_by_itself(factor, status, monkeypatch, capsys):
    """The same file as a module, with a gradient that is a thousandth too large."""
    x = pt.dscalar("x")
    true = against_differences.grad
    monkeypatch.setattr(
        against_differences, "grad", lambda *a, **k: [g * factor for g in true(*a, **k)]
    )
    check = against_differences.Check(pt.sin(x), {x: np.array(0.5)}, [x], [[0]], truncated=False)
    assert check.run([(0, 1), (0, 2)]) == status
    assert ("DIFFERENT" in capsys.readouterr().out) == bool(status)
