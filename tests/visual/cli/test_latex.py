"""The command on the page for lecturers converts a lesson to LaTeX without Inkscape.

The notebook contains only code, because nbconvert converts prose by pandoc.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pypdfium2
from nbformat import v4
from sites import ROOT

import visual
from lab.loops import gallery

CELLS = (
    "import visual; from lab import gallery; trace = gallery.loops['square'].trace()",
    "visual.tapes(trace)",
    "visual.machine(trace)",
    "gallery.loops['square'].system()",
)


def documented():
    """The arguments of the command, on a notebook called small."""
    page = (ROOT / "notebooks" / "lecturer.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^jupyter (nbconvert .*--to latex(?:.*\\\n)*.*)$", page, re.MULTILINE)
    return shlex.split(found.replace("\\\n", " ").replace("01_loop", "small"))


def test_a_lesson_becomes_latex_whose_pictures_are_pdfs(tmp_path):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in CELLS])
    nbformat.write(notebook, tmp_path / "small.ipynb")
    command = [sys.executable, "-m", *documented()]
    environment = {**os.environ, "PATH": str(Path(sys.executable).parent)}  # no Inkscape
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tex = (tmp_path / "small.tex").read_text(encoding="utf-8")
    included = re.findall(r"\\adjustimage\{.*\}\{(.*)\}$", tex, re.MULTILINE)
    assert len(included) == 2
    assert r"\begin{aligned}" in tex
    trace = gallery.loops["square"].trace()
    pictures = (visual.tapes(trace), visual.machine(trace, moment=0))
    for name, picture, title in zip(included, pictures, ("of square", "C = x₄"), strict=True):
        (page,) = pypdfium2.PdfDocument(tmp_path / name)
        assert abs(page.get_width() - 0.75 * picture.width) < 1  # 96 pixels are 72 points
        words = page.get_textpage().get_text_range()
        assert title in words
        assert "7.413" in words  # 16 · 0.95¹⁵
