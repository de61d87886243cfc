"""What README, the guide, CONTRIBUTING and the hosting document promise is run.

Commands are the lines of code blocks without a language.  A line that ends in `# by hand` is not
run; `make` is asked what it would do; all others are run.
"""

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sites import build, written

import lab
import visual
from lab.loops import gallery
from visual.cli.main import main
from visual.drawing.catalogue import PICTURES

ROOT = Path(__file__).parent.parent
DOCUMENTS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "GUIDE.md", "CONTRIBUTING.md", "binder/README.md")
}
README, GUIDE = DOCUMENTS["README.md"], DOCUMENTS["GUIDE.md"]
BY_HAND = "# by hand"


def blocks(language, document=README):
    found = re.findall(r"^```(.*?)\n(.*?)^```", document, flags=re.DOTALL | re.MULTILINE)
    return [content for name, content in found if name == language]


def commands(document):
    """The commands of a document that can be run, without their comments."""
    lines = [line for block in blocks("", document) for line in block.splitlines()]
    return [line.split(" # ")[0].strip() for line in lines if line and BY_HAND not in line]


def run(command):
    """What one command does, if it is known how to run it in a test."""
    first, *rest = shlex.split(command)
    if first == "scantape":
        assert main(rest) == 0, command
        return
    if first == "make":
        rest = ["-n", *rest]
    elif first == "jupyter-repo2docker":
        assert "--no-build" in rest, command
    else:
        raise AssertionError(f"{command}: it is not known how to run this; see BY_HAND")
    tool = shutil.which(
        first, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if tool is None:
        pytest.skip(f"{first} is not installed")
    done = subprocess.run([tool, *rest], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_picture_that_moves_is_todays(tmp_path):
    """To renew it: scantape draw tapes --loop square --animate -o notebooks/moving.svg"""
    visual.tapes(gallery.loops["square"].trace()).save(tmp_path / "moving.svg", animate=True)
    assert (ROOT / "notebooks" / "moving.svg").read_text() == (tmp_path / "moving.svg").read_text()


def test_the_commands_in_readme_and_guide_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    drawn = [one for one in commands(README) + commands(GUIDE) if one.startswith("scantape")]
    assert len(drawn) >= 4
    for command in drawn:
        run(command)
    written = {"tape.svg", "figure.svg", "figure.pdf", "walk.svg", "pictures"}
    assert {path.name for path in tmp_path.iterdir()} == written
    assert (tmp_path / "pictures" / "index.html").exists()
    assert "dC/dbirth" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "GUIDE.md"])
def test_all_other_commands_work(name):
    found = [command for command in commands(DOCUMENTS[name]) if not command.startswith("scantape")]
    assert found, name
    for command in found:
        run(command)


@pytest.mark.parametrize(
    "wrong", ["make nothing", "rm -rf /", "jupyter-repo2docker .", "scantape x"]
)
def test_a_wrong_command_is_seen(wrong, capsys):
    with pytest.raises((AssertionError, SystemExit)):
        run(wrong)


def test_what_is_done_by_hand_says_so():
    """No fence hides a command: what is no command is text, and by hand are only a few."""
    marked = [line for text in DOCUMENTS.values() for line in text.splitlines() if BY_HAND in line]
    assert {line.split()[0] for line in marked if "`" not in line} == {
        "docker", "helm", "jupyter-repo2docker", "python",
    }  # fmt: skip
    for text in DOCUMENTS.values():
        languages = re.findall(r"^```(.*)$", text, flags=re.MULTILINE)[::2]
        assert set(languages) <= {"", "python", "text", "markdown"}


def test_the_snippets_for_contributors_work(tmp_path):
    loop, picture, broken, eager = blocks("python", DOCUMENTS["CONTRIBUTING.md"])
    names = {}
    exec(loop, names)
    slope, x = 1.0, 0.5
    for _ in range(6):  # by hand: the chain rule of sin(x) * 0.9
        slope, x = slope * 0.9 * math.cos(x), 0.9 * math.sin(x)
    assert float(names["damped"].trace().outputs[1]) == pytest.approx(slope, rel=1e-12)
    exec(picture, names)
    study = type("Study", (), {"trace": gallery.loops["square"].trace()})
    assert names["kind"].draw(study, "dark").svg() == names["picture"].svg()
    assert names["picture"].moments == {0: "the end"}
    assert "Where it ends" in names["picture"].text()
    exec(broken, names)
    rows = names["broken"].rows
    second = rows[-1]
    assert float(second.true) == pytest.approx(240 * 0.95**14, rel=1e-12)
    assert float(second.broken) != pytest.approx(240 * 0.95**14, rel=0.1)
    exec(eager, names)
    assert names["worst"] < 1e-6


@pytest.mark.site
def test_the_lesson_for_contributors_runs_and_becomes_a_page(tmp_path):
    (lesson,) = blocks("markdown", DOCUMENTS["CONTRIBUTING.md"])
    lessons = written(tmp_path / "lessons")
    (lessons / "11_one_step.md").write_text(lesson, encoding="utf-8")
    build(lessons, tmp_path / "site")
    page = (tmp_path / "site" / "11_one_step.html").read_text(encoding="utf-8")
    assert 'aria-label="Question"' in page
    assert "data-exercises" in page


def test_the_map_names_files_that_are_there():
    paths = re.findall(
        r"`((?:lab|visual|tests|notebooks|binder)/[\w./]*)`", "".join(DOCUMENTS.values())
    )
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    inits = (
        path for package in ("lab", "visual") for path in ROOT.glob(f"{package}/*/__init__.py")
    )
    rooms = {path.parent.relative_to(ROOT).as_posix() for path in inits}
    assert rooms - set(paths) == set()


def test_the_guide_knows_all_pictures():
    listed = re.findall(r"^\| `(\w+)` \| .* \|$", GUIDE, flags=re.MULTILINE)
    assert listed == list(PICTURES)


def test_since_when_a_gradient_too_much_is_seen():
    """Guide and lesson 5: before the third derivative only where a state has several taps."""
    assert "with one tap right up to order 2, and three\ntimes too much at order 3" in GUIDE
    several = gallery.loops["square"].with_taps({"x": (-2, -1)})
    for loop in (*gallery.loops.values(), several):
        try:
            breakage = lab.break_rule(loop, "accumulate-overwritten", 3)
        except lab.LabError:  # it has no derivative
            continue
        one = all(len(state.taps) == 1 for state in loop.states)
        assert breakage.visible is None or breakage.visible == 3 or not one, loop.name
    assert lab.break_rule(several, "accumulate-overwritten", 3).visible == 2
    five = lab.break_rule(gallery.loops["square"].with_steps(5), "accumulate-overwritten", 3)
    third = five.rows[2]
    assert float(third.broken) == pytest.approx(3 * float(third.true))
    assert float(third.true) == pytest.approx(32 * 31 * 30 * 0.95**29)


def test_the_python_in_readme_and_guide_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (first,) = blocks("python")
    exec(first, {})
    assert (tmp_path / "sine.svg").exists()
    (tmp_path / "sine.svg").unlink()
    declare, bench, graph, routing, eager = blocks("python", GUIDE)
    names = {}
    exec(declare, names)
    assert names["decay"]().trace().outputs[1] == pytest.approx(0.9**3)
    exec(bench, names)
    assert names["bench"].state.order == 2
    assert (tmp_path / "tape.svg").exists()
    exec(graph, names)
    assert (tmp_path / "sine.svg").exists()
    assert (tmp_path / "sine.pdf").exists()
    assert names["derivative"].verify(names["trace"]) < 1e-12
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


@pytest.mark.parametrize(
    ("target", "extras"),
    [("lessons", "notebook"), ("site", "notebook,site"), ("env", "notebook,site,dev")],
)
def test_an_environment_has_all_its_extras(target, extras, tmp_path):
    """What `make` would install, in an environment that is not there yet."""
    command = ["make", "-n", target, f"VENV={tmp_path / 'none'}", f"PYTHON={sys.executable}"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"--editable '\.\[(.*?)\]'", told)[-1] == extras


@pytest.mark.parametrize(("newest", "runs"), [("3.99", 2), ("3.11", 1)])
def test_ci_runs_make_test_in_a_clean_clone(newest, runs, tmp_path):
    """With a `make` that notes how it is called, and interpreters that print a version."""
    checkout, tools = tmp_path / "checkout", tmp_path / "tools"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    git = ["git", "-C", checkout, "-c", "user.name=x", "-c", "user.email=x"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *command], check=True)
    (checkout / "uncommitted").touch()
    tools.mkdir()
    scripts = {
        "make": f'echo "$PWD" "$(ls -A | xargs)" "$PYTEST_ADDOPTS" "$@" >> {tmp_path}/calls',
        "python3": "echo 3.11",
        "chromium": "",
        f"python{newest}": f"echo {newest}",
    }
    for name, script in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    told = subprocess.run(
        [checkout / ".ci" / "run"], env=environment, capture_output=True, text=True, check=True
    ).stdout
    calls = [line.split(" ", 1) for line in (tmp_path / "calls").read_text().splitlines()]
    assert {Path(folder).name for folder, _ in calls} == {"scantape"}
    assert not any(Path(folder).exists() for folder, _ in calls)
    tests = [line for _, line in calls if " test" in line]
    chosen = f" PYTHON=python{newest} VENV=.venv-newest"
    assert tests == [".ci .git -rs test", f".ci .git -rs test{chosen}"][:runs]
    assert ("Skipped: a second Python" in told) == (runs == 1)


PIP = """\
Obtaining file:///scantape
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
Collecting numpy (from scantape==0.2)
Requirement already satisfied: pillow>=10 in /x (12.0)
Successfully built scantape
Installing collected packages: numpy, scantape
Successfully installed numpy-2.4 scantape-0.2
"""


def test_an_installation_says_how_far_it_is(tmp_path):
    """With a Python that tells what pip tells, and installs nothing."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "pip").write_text(PIP)
    python = tmp_path / "bin" / "python"
    python.write_text(f"#!/bin/sh\ncat {shlex.quote(str(tmp_path / 'pip'))}\n")
    python.chmod(0o755)
    (tmp_path / ".venv").write_text("")
    command = [
        "make",
        "-s",
        "--no-print-directory",
        f"{tmp_path}/.start",
        f"VENV={tmp_path}",
        f"PYTHON={sys.executable}",
    ]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = re.sub(r"\d+ s\b", "… s", told).replace("\r", "\n").split("\n")
    assert [line.strip() for line in lines if line] == [
        "1 packages found, … s",
        "2 packages found, … s",
        "installing what is new, which is the second half",
        "done after … s",
    ]
