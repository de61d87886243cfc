"""Every printed command and every piece of Python in the documents and in `--help` runs.

Commands are the examples of each `--help`, the lines of code blocks, and code in running text. A
small module replaces the reader's module. `NOT_RUN` names the commands that install, serve,
publish, or need missing services. `make` only prints its commands.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from glob import glob
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import ipywidgets
import jupytext
import pytest
from documents import TOOLS, code_blocks, commands_of, write_tools
from graphs import mymodule
from in_browser.chromium import CHROMIUM, Opened
from sites import ROOT, inline_calls, inline_code

import lab
import visual
from lab.loops import gallery
from visual.cli.main import COMMANDS, main
from visual.drawing.catalogue import PICTURES

DOCUMENTS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "GUIDE.md", "CONTRIBUTING.md", "binder/README.md")
}
README, GUIDE = DOCUMENTS["README.md"], DOCUMENTS["GUIDE.md"]
NOTEBOOKS = {
    path.name: path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.md")
}
# Lessons have numbers; `test_lessons` runs their Python.
PAGES = {name: text for name, text in NOTEBOOKS.items() if not name[0].isdigit()}
FORMATS = {".html": (b"<!doctype html>", b"</html>"), ".pdf": (b"%PDF", b""), ".csv": (b"", b"")}
FORMATS |= {".png": (b"\x89PNG", b""), ".gif": (b"GIF8", b"")}
NOT_RUN = (
    *("docker push", "git tag", "python -m build", "twine"),  # publish
    *("npm install", "pip install"),  # install
    *("helm", "jupyter-repo2docker --no-run"),  # need a cluster, or Docker
    *("marimo", "nbgrader"),  # are not installed
    "jupyter nbconvert",  # runs in the tests of slides and of LaTeX
    "python bench",  # measures for minutes
)


def commands():
    """Return every command, with the first document or help text that prints it."""
    places = {}
    for words in ([], *([name] for name in COMMANDS)):
        with redirect_stdout(io.StringIO()) as text, suppress(SystemExit):
            main([*words, "--help"])
        for command in commands_of(text.getvalue()):
            places.setdefault(command, " ".join(["scantape", *words, "--help"]))
    for name, text in (DOCUMENTS | NOTEBOOKS).items():
        for block in code_blocks(text, "", "sh", "text"):
            for command in commands_of(block):
                places.setdefault(command, name)
        for command in inline_code(text):
            tool, *words = command.split(" ")
            if tool in TOOLS and words:
                is_name = tool == "scantape" and len(words) == 1  # of a command in running text
                places.setdefault(command + " --help" * is_name, name)
    return places


ALL = commands()


@pytest.fixture
def folder(folder, monkeypatch):
    """Return a folder with modules and answers of a reader, in which JupyterLab does not start."""
    for module in ("mymodule", "mine", "module"):
        shutil.copy(mymodule.__file__, folder / f"{module}.py")
    (folder / "anna").mkdir()
    (folder / "anna" / "scantape-progress.json").write_text('{"answers": {}}', encoding="utf-8")
    stub = SimpleNamespace(run=lambda *_, **__: None)
    monkeypatch.setattr("visual.cli.lessons.subprocess", stub)
    return folder


def run(command):
    """Run a command; return the files that it names as its output."""
    tool, *words = shlex.split(command)
    if tool == "scantape":
        words = [path for word in words for path in (glob(word) or [word])]
        try:
            status = main(words)
        except SystemExit as error:
            status = error.code
        assert status == 0, command
        outputs = [after for word, after in pairwise(words) if word in ("-o", "--out")]
        outputs += words[1:2] if words[0] == "lessons" and len(words) < 4 else []
        return [Path(output) for output in outputs if output not in ("-", "--help")]
    assert tool in ("make", "jupyter-repo2docker"), command
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    executable = shutil.which(tool, path=path)
    if executable is None:
        pytest.skip(f"{tool} is not installed")
    dry = ["-n"] if tool == "make" else []
    result = subprocess.run([executable, *dry, *words], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return []


def check_output(path):
    """Check that a file has the type of its suffix, and that a folder has an index."""
    if path.is_dir():
        assert [*path.glob("index.*")], path
        return
    content = path.read_bytes()
    if path.suffix == ".py":
        compile(content, path, "exec")
    elif path.suffix == ".svg":
        assert ElementTree.fromstring(content).tag.endswith("svg"), path
    else:
        start, end = FORMATS[path.suffix]
        assert content.lower().startswith(start.lower()), path
        assert content.rstrip().endswith(end), path


def test_the_moving_picture_is_up_to_date(tmp_path):
    """To renew: scantape draw machine --loop square --cost sum --animate -o notebooks/moving.svg"""
    trace = gallery.loops["square"].trace(cost="sum")
    visual.machine(trace).save(tmp_path / "moving.svg", animate=True)
    assert (ROOT / "notebooks" / "moving.svg").read_text() == (tmp_path / "moving.svg").read_text()


@pytest.mark.parametrize(
    "command", [c for c in ALL if not c.startswith(NOT_RUN) and " page " not in c], ids=str
)
def test_a_printed_command_works(command, folder):
    if "model" in command and find_spec("pymc") is None:
        pytest.skip("PyMC is not installed")
    for path in run(command):
        check_output(path)


@pytest.mark.browser
@pytest.mark.parametrize("command", [c for c in ALL if " page " in c], ids=str)
def test_a_page_without_python_shows_every_order(command, folder, request):
    (path,) = run(command)
    check_output(path)
    if CHROMIUM is None:
        pytest.skip("needs Chromium to open pages")
    with Opened(request.getfixturevalue("browser"), folder / path) as opened:
        page = opened.page
        page.wait_for_selector("[data-lesson][data-ready]")
        for order in page.get_by_label("order").locator("option").all_text_contents():
            page.get_by_label("order").select_option(order)
            page.locator(f"[data-scan='{2 ** int(order)}']").first.wait_for()  # the last Scan
        if "--loops" not in command:  # order 2 of gap replaces order 3, which is omitted
            page.get_by_label("loop").select_option(label="gap")
            page.get_by_text("only for square").wait_for()
            page.get_by_text("4 ∇C′ through 1").first.wait_for()
        assert opened.messages == []


def test_the_commands_are_found():
    """Every command of scantape has an example, and every entry of `NOT_RUN` is used."""
    assert {"scantape --help", "README.md", "GUIDE.md", "debug.md"} <= set(ALL.values())
    assert {c.split()[1] for c in ALL if c.startswith("scantape ")} >= set(COMMANDS)
    assert [start for start in NOT_RUN if not any(c.startswith(start) for c in ALL)] == []
    text = "  scantape draw a \\\n    -o b.svg   its tape\n  scantape x # not\nscantape-y z\n"
    assert commands_of(text) == ["scantape draw a -o b.svg", "scantape x"]


@pytest.mark.parametrize(
    "wrong", ["make nothing", "rm -rf /", "scantape x", "scantape draw tapes --loop nope -o a.svg"]
)
def test_a_wrong_command_is_detected(wrong, folder, capsys):
    with pytest.raises(AssertionError):
        run(wrong)


def test_a_wrong_file_is_detected(tmp_path):
    for name in ("a.svg", "a.pdf", "a.html", "a.py"):
        (tmp_path / name).write_text("<p> no", encoding="utf-8")
        with pytest.raises((AssertionError, SyntaxError)):  # a ParseError is a SyntaxError
            check_output(tmp_path / name)


# Python


def python_of(name, text):
    """Run the Python and the calls in the text of a document; return the defined names."""
    cells = jupytext.reads(text, fmt="md:myst").cells if name in PAGES else ()
    code = [cell.source for cell in cells if cell.cell_type == "code"] or code_blocks(
        text, "python"
    )
    cost, wrt, given = mymodule.mygraph()
    names = {"lab": lab, "visual": visual, "loop": gallery.loops["square"], "cost": cost}
    names |= {"wrt": wrt, "given": given, "ipywidgets": ipywidgets}
    names |= {"exercise": visual.Exercise(names["loop"].trace(), "overwritten")}
    if find_spec("pymc"):
        names["model"] = mymodule.mymodel()
    calls = [call for call in inline_calls(text) if "model" in names or "(model)" not in call]
    for source in code + calls:
        exec(compile(source, f"{name}: {source:.60}", "exec"), names)
    return names


@pytest.mark.parametrize("name", [*DOCUMENTS, *PAGES])
def test_the_python_of_a_document_works(name, folder, capsys):
    text = (DOCUMENTS | PAGES)[name]
    names = python_of(name, text)
    for path in re.findall(r"""\.save\(["']([^"']+)""", text):
        check_output(folder / path)
    check = {"GUIDE.md": check_guide, "CONTRIBUTING.md": check_contributing}.get(name)
    if check is not None:
        check(names, capsys.readouterr().out)


def check_guide(names, printed):
    assert names["decay"]().trace().outputs[1] == pytest.approx(0.9**3)
    assert names["bench"].state.order == 2
    assert names["derivative"].verify(names["trace"]) < 1e-12
    assert "Determine gradient step count" in printed


def check_contributing(names, printed):
    study = type("Study", (), {"trace": gallery.loops["square"].trace()})
    assert names["kind"].draw(study).themed("dark").svg() == names["picture"].svg()
    assert names["picture"].moments == {0: "the end"}
    assert "Where it ends" in names["picture"].text()
    second = names["broken"].rows[-1]
    assert float(second.true) == pytest.approx(240 * 0.95**14, rel=1e-12)
    assert float(second.broken) != pytest.approx(240 * 0.95**14, rel=0.1)
    assert names["worst"] < 1e-6


def test_a_wrong_call_in_running_text_is_detected(folder):
    with pytest.raises(AttributeError, match="gradd"):
        python_of("x.md", "Call `lab.gradd(\ncost, wrt)` and be happy; `(cost, wrt)` is no call.")


def test_the_map_names_existing_files():
    paths = re.findall(
        r"`((?:lab|visual|tests|notebooks|binder)/[\w./]*)`", "".join(DOCUMENTS.values())
    )
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    inits = (
        path for package in ("lab", "visual") for path in ROOT.glob(f"{package}/*/__init__.py")
    )
    packages = {path.parent.relative_to(ROOT).as_posix() for path in inits}
    assert packages - set(paths) == set()


def test_the_guide_lists_all_pictures():
    listed = re.findall(r"^\| `(\w+)` \| .* \|$", GUIDE, flags=re.MULTILINE)
    assert listed == list(PICTURES)


@pytest.mark.parametrize(("newest", "runs"), [("3.99", 2), ("3.11", 1)])
def test_ci_runs_make_test_in_a_clean_clone(newest, runs, tmp_path):
    """A fake `make` records its calls, and fake interpreters print a version."""
    checkout, tools = tmp_path / "checkout", tmp_path / "tools"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    git = ["git", "-C", checkout, "-c", "user.name=x", "-c", "user.email=x"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *command], check=True)
    (checkout / "uncommitted").touch()
    make = f'echo "$PWD" "$(ls -A | xargs)" "$@" >> {tmp_path}/calls'
    versions = {"python3": "echo 3.11", f"python{newest}": f"echo {newest}"}
    write_tools(tools, make=make, chromium="", **versions)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    output = subprocess.run(
        [checkout / ".ci" / "run"], env=environment, capture_output=True, text=True, check=True
    ).stdout
    calls = [line.split(" ", 1) for line in (tmp_path / "calls").read_text().splitlines()]
    assert {Path(folder).name for folder, _ in calls} == {"scantape"}
    assert not any(Path(folder).exists() for folder, _ in calls)
    tests = [line for _, line in calls if " test" in line]
    chosen = f" PYTHON=python{newest} VENV=.venv-newest"
    assert tests == [".ci .git test", f".ci .git test{chosen}"][:runs]
    assert ("Skipped: a second Python" in output) == (runs == 1)
