"""The command line, as users type it."""

import re
from importlib import metadata

import pytensor
import pytest

from visual.cli.main import main


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
        (["exported:nothing"], "expected a lab.Loop, a PyMC model"),
        (["exported:graph", "--steps", "4"], "only for a loop. For a graph, pass --order or --at."),
    ):
        assert main(["export", "-o", "no", "--loop", *said]) == 2
        assert words in capsys.readouterr().err


def test_why_accepts_the_values_of_a_graph_or_asks_for_them(tmp_path, monkeypatch, capsys):
    (tmp_path / "rooted.py").write_text(ROOTED)
    monkeypatch.chdir(tmp_path)
    assert main(["why", "rooted:graph", "--at", "x=1.5"]) == 0  # √1.5 − 1 = 0.22, −0.53, nan
    assert "step 2 of Scan 1 (scan_fn)" in capsys.readouterr().out
    for said, words in (
        ([], "no value for x. Use --at x=…"),
        (["--at", "y=1"], "--at 'y': expected one of x"),
        (["--at", "x=1.5", "--steps", "4"], "For a graph, pass --order or --at."),
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
    assert said[1].startswith("scantape (not installed), PyTensor")


def not_installed(name, real=metadata.version):
    if name == "scantape":
        raise metadata.PackageNotFoundError
    return real(name)
