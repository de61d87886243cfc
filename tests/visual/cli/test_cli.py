"""The command line, as users type it."""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytensor
import pytest

import visual
from lab.loops import gallery
from visual.cli.main import main

ROOT = Path(__file__).parents[3]


def run(*arguments, **options):
    command = [sys.executable, "-m", "scantape", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)


def test_the_gallery_is_listed_with_reasons(capsys):
    assert main(["loops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*gallery.loops]
    assert any(line.startswith("square") and "x squared" in line for line in lines)


def test_every_option_changes_the_picture(capsys):
    def drawn(*options):
        assert main(["draw", "tapes", "--loop", "coupled", "-o", "-", *options]) == 0
        return capsys.readouterr().out

    pictures = [
        drawn(),
        drawn("--order", "2"),
        drawn("--wrt", "birth"),
        drawn("--steps", "4"),
        drawn("--cost", "sum"),
        drawn("--cost", "0,1,0.5"),
        drawn("--of", "hunters"),
        drawn("--at", "prey=1.7"),
        drawn("--at", "hunters=0.5", "--at", "birth=1"),
    ]
    assert len(set(pictures)) == len(pictures)


def test_a_warning_about_many_scans_goes_to_standard_error():
    done = run("draw", "tapes", "--loop", "square", "--steps", "1", "--order", "5", "-o", "-")
    assert done.returncode == 0, done.stderr
    assert "about 32 Scans" in done.stderr


def test_a_figure_has_a_width_and_steps(tmp_path):
    path = tmp_path / "figure.svg"
    assert main(["draw", "figure7", "-o", str(path), "--width", "page", "--steps", ":4"]) == 0
    expected = visual.figure(7, width="page", steps=":4").svg()
    assert path.read_text(encoding="utf-8") == expected


def test_export_writes_the_set_and_prints_the_index(tmp_path, capsys):
    folder = tmp_path / "set"
    assert main(["export", "--loop", "fibonacci", "--formats", "svg,txt", "-o", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == str(folder / "index.html")
    assert {path.suffix for path in folder.iterdir()} == {".svg", ".txt", ".html"}


ROOTED = """
import pytensor
import pytensor.tensor as pt

x = pt.dscalar("x")
xs = pytensor.scan(
    lambda a: pt.sqrt(a) - 1.0, outputs_info=[x], n_steps=3, return_updates=False
)


def graph():
    return xs[-1], x
"""


def test_export_accepts_a_graph_or_describes_it(tmp_path, monkeypatch, capsys):
    told = ROOTED.replace("return xs[-1], x", "return xs[-1], x, {x: 9.0}")
    (tmp_path / "exported.py").write_text(f"{told}\nnothing = 5\n")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "--loop", "exported:graph", "--order", "1", "-o", "set"]) == 0
    assert "-0.3564" in (tmp_path / "set" / "tapes.svg").read_text("utf-8")  # √(√(√9 − 1) − 1) − 1
    capsys.readouterr()
    for said, words in (
        (["exported:nothing"], "expected a lab.Loop, not 5"),
        (["exported:graph", "--steps", "4"], "not available for a lab.Derivative"),
    ):
        assert main(["export", "-o", "no", "--loop", *said]) == 2
        assert words in capsys.readouterr().err


def test_why_accepts_the_values_of_a_graph_or_asks_for_them(tmp_path, monkeypatch, capsys):
    (tmp_path / "rooted.py").write_text(ROOTED)
    monkeypatch.chdir(tmp_path)
    assert main(["why", "rooted:graph", "--at", "x=1.5"]) == 0  # √1.5 − 1 = 0.22, −0.53, nan
    assert "step 2 of scan_fn" in capsys.readouterr().out
    for said, words in (
        ([], "no value for x. Use --at x=…"),
        (["--at", "y=1"], "--at 'y': expected one of x"),
        (["--at", "x=1.5", "--steps", "4"], "a graph takes --order and --at"),
    ):
        assert main(["why", "rooted:graph", *said]) == 2
        assert words in capsys.readouterr().err


def test_the_versions_are_printed(capsys, monkeypatch):
    said = []
    for lacking in (False, True):
        if lacking:
            monkeypatch.setattr("visual.cli.main.version", not_installed)
        with pytest.raises(SystemExit) as ended:
            main(["--version"])
        assert ended.value.code == 0
        said.append(capsys.readouterr().out)
    assert re.fullmatch(rf"scantape [\w.+]+, PyTensor {re.escape(pytensor.__version__)}\n", said[0])
    assert said[1].startswith("scantape that is not installed, PyTensor")


def not_installed(name, real=metadata.version):
    if name == "scantape":
        raise metadata.PackageNotFoundError
    return real(name)
