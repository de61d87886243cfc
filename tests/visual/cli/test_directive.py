"""The directive of Sphinx: the picture that the command draws, and what is refused."""

import subprocess
import sys

import pytest

import visual
from lab.loops import gallery

pytestmark = pytest.mark.site

CONF = "extensions = ['scantape', 'myst_nb']\nproject = 'x'\n"
TEXT = """# A text

```{scantape} tapes
:loop: square
:order: 2
:no-legend:
```
"""


def build(folder, text, *options):
    """Sphinx at work in a folder."""
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(text)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        *options,
        str(folder),
        str(folder / "out"),
    ]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_picture_is_drawn_when_a_text_is_built(tmp_path):
    done = build(tmp_path, TEXT)
    assert done.returncode == 0, done.stderr
    picture = visual.draw(gallery.loops["square"], "tapes", order=2, no_legend=True)
    assert picture.svg().strip() in (tmp_path / "out" / "index.html").read_text()
    done = build(tmp_path, TEXT, "-b", "latex")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("scantape-*.pdf"))) == 1


def test_what_cannot_be_drawn_is_told(tmp_path):
    """Every sentence by itself, in one build."""
    wrong = {
        "did you mean square?": TEXT.replace(":loop: square", ":loop: squre"),
        "did you mean 'tapes'?": TEXT.replace("tapes", "tape"),
        "odor": TEXT.replace("order", "odor"),
    }
    done = build(tmp_path, "\n".join(wrong.values()), "--keep-going")
    assert done.returncode
    assert [words for words in wrong if words not in done.stderr] == []
