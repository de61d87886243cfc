"""A copied lesson becomes slides by the command on the lecturers' page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sites import ROOT

from visual.cli import lessons as copies

SMALL = """# A small one

Here it begins.

```{code-cell} ipython3
import visual
from lab import gallery
```

## First

```{code-cell} ipython3
trace = gallery.loops["square"].trace()
visual.machine(trace)
```

Something to say.

```{code-cell} ipython3
:jupyter: {source_hidden: true}

visual.Question("How many?", "two", "One and one.", choices=("one", "two"))
```

```{code-cell} ipython3
print("1 < 2")
```
"""


def documented():
    """The nbconvert command on the lecturers' page, without its line breaks."""
    page = (ROOT / "notebooks" / "lecturer.md").read_text(encoding="utf-8")
    (found,) = re.findall(
        r"^SCANTAPE_STATIC=1 jupyter (nbconvert (?:.*\\\n)*.*)$", page, re.MULTILINE
    )
    return found.replace("\\\n", " ").replace("01_loop", "small").split()


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    """The slides of the small lesson, as HTML."""
    folder = tmp_path_factory.mktemp("talk")
    (folder / "package").mkdir()
    (folder / "package" / "01_loop.md").write_text(SMALL, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "HERE", folder / "package")
        list(copies.copy_lessons(folder))
    (folder / "01_loop.ipynb").rename(folder / "small.ipynb")
    command = [sys.executable, "-m", *documented()]
    environment = {**os.environ, "SCANTAPE_STATIC": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (folder / "small.slides.html").read_text(encoding="utf-8")
    return page[page.index('<div class="slides">') :]


def test_headings_and_cells_that_draw_are_slides_and_prose_is_a_note(slides):
    sections = [part.partition("</section>")[0] for part in slides.split("<section>")[1:] if part]
    sections = [part for part in sections if part.strip()]
    assert len(sections) == 4
    first, machine, question, words = sections
    assert "Here it begins." in first
    assert "import visual" not in slides
    assert "First" in machine
    assert "data-machine" in machine
    assert "7.413" in machine  # 16 · 0.95¹⁵
    assert "How many?" in question
    assert "visual.Question" not in question
    assert "1 &lt; 2" in words
    (note,) = re.findall(r'<aside class="notes">(.*?)</aside>', slides, re.DOTALL)
    assert "Something to say." in note
    assert '"node_modules/reveal.js/dist/reveal.js"' in slides
    assert Path("node_modules/requirejs/require.js").as_posix() in " ".join(documented())
