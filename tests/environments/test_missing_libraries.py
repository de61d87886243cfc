"""Scantape works without Graphviz, Typst, tqdm, Numba, threads, and processes, as in a browser.

`FAILURES` and the page for lecturers list the functions that then fail. All other functions work.
Widgets without anywidget are displayed, but no box can contain them.
"""

import json
import os
import subprocess
import sys

import matplotlib.font_manager  # noqa: F401 (fills the cache of fonts, with a thread)
import pytest
from matplotlib import get_cachedir
from sites import ROOT

from visual.drawing.catalogue import PICTURES

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1:]:
            raise ImportError(f"{name} is missing")

sys.meta_path.insert(0, Blocked())
"""
BROWSER = """
import os, subprocess, threading

def fail(*_, **__):
    raise OSError("emscripten does not support this")

threading.Thread.start = os.fork = subprocess.Popen.__init__ = fail
"""
CALLS = """
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
    "displayed": lambda: tapes._repr_mimebundle_(),
    "machine": lambda: visual.machine(loop.trace())._repr_mimebundle_(),
    "workbench": lambda: visual.Workbench(loop)._repr_mimebundle_(),
    "exercise": lambda: visual.Exercise(loop.trace(), "taps").page(),
    "equations": lambda: str(loop.system()),
    "break": lambda: lab.break_rule(loop, "accumulate-overwritten", order=3),
    "eager": lambda: lab.eager.grad(lambda x: x * x)(2.0),
}
failed = {}
for name, function in work.items():
    try:
        function()
    except (lab.LabError, ImportError) as error:
        failed[name] = str(error)
print(json.dumps([list(work), failed]))
"""
MISSING = ("pygraphviz", "typst", "tqdm", "numba", "_multiprocessing")
FAILURES = dict.fromkeys(("draw genealogy", "draw stepgraph"), "pip install pygraphviz")
FAILURES |= dict.fromkeys(("png", "pdf", "gif"), "typst")
WIDGETS = """
import lab, visual

trace = lab.gallery.loops["square"].trace()
widgets = (
    visual.machine(trace),
    visual.Workbench(order=2),
    visual.Exercise(trace),
    visual.Exercises.of(trace, ("taps",)),
    visual.Question("Which?", 1, "It.", shown=visual.tapes(trace)),
)
for widget in widgets:
    types = {*widget._repr_mimebundle_()}
    assert types == {"text/html", "image/svg+xml", "image/png", "text/plain"}
    try:
        if "ipywidgets" in sys.argv:
            widget.model_id
        else:
            import ipywidgets
            ipywidgets.VBox([widget])
    except lab.LabError as error:
        assert type(widget).__name__ in str(error)
        print(error)
widgets[1].order = 1
assert widgets[1].state.order == 1
assert not widgets[4].answered
"""


def run_without(modules, code, folder, **environment):
    """Run code in a Python without some modules. Return the printed lines."""
    result = subprocess.run(
        [sys.executable, "-c", BLOCKED + code, *modules],
        capture_output=True, text=True, cwd=folder, env={"PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize("missing", [("anywidget",), ("anywidget", "ipywidgets")])
def test_widgets_without_anywidget_are_displayed_but_not_in_boxes(missing, tmp_path):
    messages = run_without(missing, WIDGETS, tmp_path, **os.environ)
    assert len(messages) == 5
    assert all("anywidget is not installed. Run pip install anywidget" in m for m in messages)


def test_only_the_listed_calls_fail(tmp_path):
    environment = {"PATH": "", "HOME": "/tmp", "MPLCONFIGDIR": get_cachedir()}
    *_, results = run_without(MISSING, BROWSER + CALLS, tmp_path, **environment)
    names, failed = json.loads(results)
    assert {f"draw {kind}" for kind in PICTURES} < set(names)
    assert {
        name: next((m for m in FAILURES.values() if m in message), message)
        for name, message in failed.items()
    } == FAILURES
    page = (ROOT / "notebooks" / "lecturer.md").read_text(encoding="utf-8")
    assert all(words in page for words in ("stepgraph", "PDF", "PNG", "film"))
