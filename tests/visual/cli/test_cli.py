"""The command line, as users type it."""

import re
from importlib import metadata

import pytensor
import pytest

from visual.cli.main import main
from visual.drawing.catalogue import PICTURES
from visual.options import AT


def test_every_option_changes_the_picture(capsys):
    def draw(*options, picture="tapes"):
        assert main(["draw", picture, "--loop", "coupled", "-o", "-", *options]) == 0
        return capsys.readouterr().out

    options = ["", "--order 2", "--wrt birth", "--steps 4", "--cost sum", "--cost 0,1,0.5"]
    options += ["--of hunters", "--at prey=nan", "--at hunters=0.5 --at birth=1"]
    assert len({draw(*words.split()) for words in options}) == len(options)
    assert draw(picture="machine") == draw("--rule", "correct", picture="machine")


def test_an_invalid_word_is_named(folder, capsys):
    assert AT.parse(["x = 1=0.5", "y=[1,2]"]) == {"x = 1": 0.5, "y": [1, 2]}
    for words in ("x", "x=", "=3", "x=1 2", "x=[nan", "x=[1, inf"):
        assert main(["draw", "tapes", "--loop", "square", "-o", "-", "--at", words]) == 2
        assert f"--at {words}: expected NAME=NUMBER" in capsys.readouterr().err
    assert main(["draw", "tapes", "--loop", "square", "-o", "-", "--at=x=1", "--at=x=2"]) == 2
    assert "--at x=1 and x=2: set each variable only once." in capsys.readouterr().err
    assert main(["explain", "../mine:my"]) == 2
    assert "No module named '../mine'. Run the command in the folder" in capsys.readouterr().err
    code = "def f(x):\n    raise TypeError('x is required')\n\ng = lambda: f(1)"
    (folder / "requiring.py").write_text(code)
    for name, is_call in (("f", True), ("g", False)):  # g raises the error itself
        assert main(["explain", f"requiring:{name}"]) == 2
        assert ("The function must not require arguments." in capsys.readouterr().err) is is_call


def test_export_accepts_a_graph_and_prints_the_index(folder, capsys):
    words = "--loop graphs.mymodule:mygraph --order 1 --formats svg,txt -o set"
    assert main(["export", *words.split()]) == 0
    assert capsys.readouterr().out.strip() == "set/index.html"
    files = {f"{name}{suffix}" for name in PICTURES for suffix in (".svg", ".txt")}
    assert {path.name for path in (folder / "set").iterdir()} == {*files, "index.html"}
    assert "-0.1" in (folder / "set" / "tapes.svg").read_text("utf-8")  # √0.16 − 0.5


def test_why_accepts_the_values_of_a_graph(capsys):
    """The graph has no values: each step multiplies its result by w."""
    assert main(["why", "graphs.to_explain:small_number", "--at", "w=nan"]) == 0
    assert "step 0 of Scan 1 (scan_fn)" in capsys.readouterr().out


def test_the_versions_are_printed(capsys, monkeypatch):
    def not_installed(name, installed=metadata.version):
        if name == "scantape":
            raise metadata.PackageNotFoundError
        return installed(name)

    for version, own in ((metadata.version, r"[\w.+]+"), (not_installed, r"\(not installed\)")):
        monkeypatch.setattr("visual.cli.main.version", version)
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["--version"])
        pattern = rf"scantape {own}, PyTensor {re.escape(pytensor.__version__)}\n"
        assert re.fullmatch(pattern, capsys.readouterr().out)
