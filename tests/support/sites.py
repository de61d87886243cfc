"""The paths of the lessons, and sites that a run of tests builds once."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

from filelock import FileLock

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
SMALL = ROOT / "tests" / "site" / "lessons"
STRICT = ("-W", "-j", "2")


def run_sphinx(lessons, out, *options):
    """Run Sphinx as `make site` does, in a process, and return the finished process."""
    command = [sys.executable, "-m", "sphinx", "-q", "-T", *options, "-d", f"{out}.doctrees"]
    settings = {"PYTHONPATH": str(ROOT), "PYTHON_COLORS": "0", "NO_COLOR": "1"}
    return subprocess.run(
        [*command, "-c", ROOT / "notebooks" / "site", lessons, out],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )


@cache
def built_once(lessons):
    """Return the folder of a site. The first process of a run of tests builds it, strictly."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid4().hex)
    folder = Path(gettempdir()) / f"scantape-{lessons.name}-{run}"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            result = run_sphinx(lessons, folder, *STRICT)
            assert result.returncode == 0, result.stderr
    return folder


def small_site():
    return built_once(SMALL)


def write_lessons(folder, **cells):
    """Write a lesson for each name, and return the folder."""
    folder.mkdir(exist_ok=True)
    for name, source in {"index": "Lessons.", **cells}.items():
        head = HEAD if "{code-cell}" in source else ""  # without code, no kernel starts
        text = f"{head}# A lesson: {name}\n\n{source}\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


HEAD = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, name: python3}
---

"""


def inline_code(text):
    """Return the code in the running text of a document, each piece in one line."""
    prose = re.sub(r"^ *(`{3,}|~{3,}).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE)
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]


def inline_calls(text):
    """Return the inline code of a document that is a call: ``f(x)``, or ``y = f(x)``."""
    return [code for code in inline_code(text) if re.match(r"(\w+ = )?[a-z][\w.]*\(", code)]


def code(source, tags=""):
    """Return a cell of code in MyST."""
    return f"```{{code-cell}} ipython3\n{tags}{source}\n```"
