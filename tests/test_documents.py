"""What README and lessons promise is run."""

import math
import re
import shlex
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient

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


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.md")), ids=lambda p: p.stem)
def test_lessons_run(path):
    lesson = jupytext.read(path)
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    assert all(len(cell.source.splitlines()) <= 10 for cell in code)
    assert not any(cell.outputs for cell in code)
    NotebookClient(lesson, timeout=120, resources={"metadata": {"path": ROOT}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    pictures = [o.data["image/svg+xml"] for o in outputs if "image/svg+xml" in o.get("data", {})]
    printed = "".join(o.text for o in outputs if o.output_type == "stream")
    assert [p.count("<title>Tapes of") for p in pictures] == [1, 1, 1]
    assert "order 2" in pictures[1]
    assert "117" in pictures[1]
    assert "reads 0, 2, 1" in pictures[2]
    value, gradient, closed = map(float, printed.split())
    assert value == 0.44012666865176564
    assert gradient == pytest.approx(closed, rel=1e-15)
