"""What README and lessons promise is run."""

import math
import re
import shlex
from pathlib import Path

import pytest

import visual
from lab import gallery
from visual.cli import main
from visual.pictures import PICTURES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_picture_in_the_readme_is_todays(tmp_path):
    """To renew it: scantape draw tapes --loop square -o notebooks/square.svg"""
    found = visual.tapes(gallery.loops["square"].trace()).svg()
    assert (ROOT / "notebooks" / "square.svg").read_text(encoding="utf-8") == found


def test_the_commands_in_the_readme_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("") for line in block.splitlines() if "scantape " in line]
    commands = [line for line in commands if line.startswith("scantape")]
    assert len(commands) >= 4
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    assert {path.name for path in tmp_path.iterdir()} == {"tape.svg", "figure.svg", "pictures"}
    assert (tmp_path / "pictures" / "index.html").exists()
    assert "dC/dbirth" in capsys.readouterr().out


def test_the_readme_knows_all_pictures():
    listed = re.findall(r"^\| `(\w+)` \| .* \|$", README, flags=re.MULTILINE)
    assert listed == list(PICTURES)


def test_the_python_in_the_readme_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    declare, bench, graph, routing, eager = blocks("python")
    names = {}
    exec(declare, names)
    assert names["decay"]().trace().outputs[1] == pytest.approx(0.9**3)
    exec(bench, names)
    assert names["bench"].state.order == 2
    assert (tmp_path / "tape.svg").exists()
    exec(graph, names)
    assert (tmp_path / "sine.svg").exists()
    assert (tmp_path / "sine.pdf").exists()
    assert names["trace"].verify() < 1e-12
    assert "Determine gradient step count" in capsys.readouterr().out
    exec(routing, names)
    for name in ("where", "clamp", "overwritten", "products"):
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    exec(eager, names)
    assert names["run"].result.value == pytest.approx(second_derivative_of_sines(0.5), rel=1e-12)
    assert (tmp_path / "eager.svg").exists()
    assert (tmp_path / "beside.svg").exists()


def second_derivative_of_sines(x):
    """Of sin(sin(sin(sin(x)))), by the chain rule for first and second derivatives."""
    first, second = 1.0, 0.0
    for _ in range(4):
        second = -math.sin(x) * first**2 + math.cos(x) * second
        first, x = math.cos(x) * first, math.sin(x)
    return second
