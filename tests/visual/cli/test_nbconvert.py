"""The commands on the page for lecturers convert a lesson to slides, and to LaTeX without Inkscape.

The notebook for LaTeX contains only code, because nbconvert converts prose by pandoc.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest
from sites import ROOT

import visual
from lab.loops import gallery
from visual.cli import lessons as copies

LESSONS = Path(__file__).with_name("lessons")


def convert(lesson, start, folder, settings, **environment):
    """Run the command of the page that begins with `start` on a lesson; return its arguments."""
    page = (ROOT / "notebooks" / "lecturer.md").read_text(encoding="utf-8")
    (command,) = re.findall(rf"^{start}jupyter (nbconvert (?:.*\\\n)*.*)$", page, re.MULTILINE)
    words = shlex.split(command.replace("\\\n", " "))
    (folder / "package").mkdir()
    shutil.copy(LESSONS / f"{lesson}.md", folder / "package" / "01_loop.md")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "HERE", folder / "package")
        assert list(copies.copy_lessons(folder)) == [folder / "01_loop.ipynb"]
    (folder / "jupyter_config.json").write_text(json.dumps(settings))
    environment |= {"JUPYTER_CONFIG_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return words


def test_a_lesson_is_converted_to_latex_with_pdf_pictures(tmp_path, local_kernels):
    no_inkscape = str(Path(sys.executable).parent)
    convert("latex", "", tmp_path, local_kernels, PATH=no_inkscape)
    tex = (tmp_path / "01_loop.tex").read_text(encoding="utf-8")
    included = re.findall(r"\\adjustimage\{.*\}\{(.*)\}$", tex, re.MULTILINE)
    assert r"\begin{aligned}" in tex
    trace = gallery.loops["square"].trace()
    pictures = (visual.machine(trace, moment=0), visual.tapes(trace))
    for name, picture, title in zip(included, pictures, ("C = x₄", "of square"), strict=True):
        (page,) = pypdfium2.PdfDocument(tmp_path / name)
        assert abs(page.get_width() - 0.75 * picture.width) < 1  # 96 pixels are 72 points
        words = page.get_textpage().get_text_range()
        assert title in words
        assert "7.413" in words  # 16 · 0.95¹⁵


def test_headings_and_outputs_are_slides_and_prose_is_a_note(tmp_path, local_kernels):
    words = convert("slides", "SCANTAPE_STATIC=1 ", tmp_path, local_kernels, SCANTAPE_STATIC="1")
    page = (tmp_path / "01_loop.slides.html").read_text(encoding="utf-8")
    slides = page[page.index('<div class="slides">') :]
    sections = [part.partition("</section>")[0] for part in slides.split("<section>")[1:]]
    first, machine, question, printed = (part for part in sections if part.strip())
    assert "Here it begins." in first
    assert "import visual" not in slides
    assert all(words in machine for words in ("First", "data-machine", "7.413"))
    assert "How many?" in question
    assert "visual.Question" not in question
    assert "1 &lt; 2" in printed
    (note,) = re.findall(r'<aside class="notes">(.*?)</aside>', slides, re.DOTALL)
    assert "Something to say." in note
    assert '"node_modules/reveal.js/dist/reveal.js"' in slides
    assert "node_modules/requirejs/require.js" in " ".join(words)
