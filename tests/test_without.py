"""Where Python runs in a browser: no Graphviz, no Typst, no bars, no threads, no processes.

What stands in the way there is listed here, and in the lecturers' page: all else must work.
"""

import json
import os
import subprocess
import sys

import pytest
from sites import ROOT

from visual.drawing.catalogue import PICTURES

pytestmark = pytest.mark.same

BLOCKED = """
import os, subprocess, sys, threading

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pygraphviz", "typst", "tqdm", "numba", "_multiprocessing"}:
            raise ImportError(f"{name} is not there")

def refused(*_, **__):
    raise OSError("emscripten does not support this")

sys.meta_path.insert(0, Blocked())
threading.Thread.start = os.fork = subprocess.Popen.__init__ = refused
"""
TRIED = """
import json
import lab, visual
from visual.drawing.catalogue import PICTURES

loop = lab.gallery.loops["square"]
tapes = visual.tapes(loop.trace())
work = {f"draw {name}": lambda name=name: visual.draw(loop, name).svg() for name in PICTURES}
work |= {
    "text": tapes.text,
    "png": tapes.png,
    "pdf": lambda: tapes.save("x.pdf"),
    "gif": lambda: tapes.save("x.gif"),
    "animated": lambda: tapes.save("x.svg", animate=True),
    "shown": lambda: tapes._repr_mimebundle_(),
    "stepper": lambda: visual.Stepper(tapes)._repr_mimebundle_(),
    "workbench": lambda: visual.Workbench(loop)._repr_mimebundle_(),
    "exercise": lambda: visual.Exercise(loop.trace(), "number").page(),
    "puzzles": lambda: visual.puzzles().page(),
    "equations": lambda: str(loop.system()),
    "break": lambda: lab.break_rule(loop, "accumulate-overwritten", order=3),
    "eager": lambda: lab.eager.grad(lambda x: x * x)(2.0),
}
failed = {}
for name, function in work.items():
    try:
        function()
    except Exception as error:
        failed[name] = str(error)
print(json.dumps([list(work), failed]))
"""
IN_THE_WAY = {
    "draw stepgraph": "pygraphviz",
    "png": "typst",
    "pdf": "typst",
    "gif": "typst",
}


BOXED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1:]:
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Blocked())
import lab, visual

trace = lab.gallery.loops["square"].trace()
made = (
    visual.Stepper(visual.tapes(trace)),
    visual.Workbench(order=2),
    visual.Exercise(trace),
    visual.Exercises.of(trace, ("taps",)),
    visual.Question("Which?", 1, "It.", shown=visual.tapes(trace)),
)
for one in made:
    assert {"text/html", "image/svg+xml", "image/png", "text/plain"} == {*one._repr_mimebundle_()}
    try:
        if "ipywidgets" in sys.argv:
            one.model_id
        else:
            import ipywidgets
            ipywidgets.VBox([one])
    except lab.LabError as error:
        assert type(one).__name__ in str(error)
        print(error)
made[1].order = 1
assert made[1].state.order == 1
assert not made[4].answered
"""


@pytest.mark.parametrize("missing", [("anywidget",), ("anywidget", "ipywidgets")])
def test_without_anywidget_all_are_shown_and_none_is_boxed(missing):
    done = subprocess.run(
        [sys.executable, "-c", BOXED, *missing],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == 5
    assert all("since anywidget is not installed; pip install anywidget" in one for one in told)


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """What was tried where these are missing, and what failed with which words."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + TRIED],
        capture_output=True, text=True, cwd=tmp_path_factory.mktemp("without"),
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": "/tmp"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_all_else_works(tried):
    names, failed = tried
    assert {f"draw {kind}" for kind in PICTURES} < set(names)
    assert {
        name: next((m for m in IN_THE_WAY.values() if m in told), told)
        for name, told in failed.items()
    } == IN_THE_WAY


def test_the_list_is_told_to_lecturers():
    told = (ROOT / "notebooks" / "lecturer.md").read_text(encoding="utf-8")
    assert all(words in told for words in ("stepgraph", "PDF", "PNG", "film"))
