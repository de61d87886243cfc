"""The site: every lesson as a page, linked, with a table of contents that can be searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import prose
from contents import Chapter, index, sections, table
from leaf import check, leaf, module
from lesson import CONTENTS, Lesson, read_all
from running import run
from showing import Showing

from visual.atlas.page import module as atlases
from visual.backends.svg import text
from visual.exercises.page import SCORE, inline
from visual.scene.formats import write_whole

HERE = Path(__file__).parent
HOME = f"{CONTENTS}.html"
NAME = "Scantape"


@dataclass(frozen=True)
class Body:
    """A lesson as HTML, and the scripts that bring it to life."""

    lesson: Lesson
    html: str
    scripts: tuple[str, ...]


def build(lessons: Path, out: Path, reference: str = "", draft: bool = False) -> list[Path]:
    """Write the site of all lessons in the folder `lessons` to `out`; returns its pages.

    `reference` is where the reference lies within the site, if it has one.  Lessons of a `draft`
    may link to others that are not written yet.  SiteError if a lesson fails, links to nowhere,
    or its page would load anything.
    """
    read = read_all(lessons, draft)
    pages = {CONTENTS: HOME} | {lesson.name: lesson.page for lesson in read}
    bodies = [body(lesson, pages) for lesson in read]
    chapters = [Chapter(b.lesson, sections(b.html)) for b in bodies if not b.lesson.is_contents]
    out.mkdir(parents=True, exist_ok=True)
    written = []
    course = [b for b in bodies if not b.lesson.is_contents]
    for place, made in enumerate(course):
        before = course[place - 1].lesson if place else None
        after = course[place + 1].lesson if place + 1 < len(course) else None
        page = leaf(
            f"{made.lesson.title} · {NAME}",
            made.html,
            made.scripts,
            _top(reference),
            _ways(before, after),
        )
        written.append(_write(out, made.lesson.page, made.lesson.path.name, page))
    home = _home(bodies, chapters, reference)
    return [_write(out, HOME, "the contents", home), *written]


def body(lesson: Lesson, pages: Mapping[str, str]) -> Body:
    """A lesson, run and written as HTML."""
    outputs = run(lesson)
    showing, words = Showing(lesson.title), prose.Prose(lesson, pages)
    parts = []
    for cell in lesson.cells:
        if not cell.is_code:
            parts.append(words.html(cell.source, cell.number))
            continue
        code = "" if cell.is_hidden else prose.code(cell.source)
        shown = list(map(showing.html, outputs[cell.number]))
        parts += [*shown, _folded(code)] if "Question(" in cell.source else [code, *shown]
    scripts = [module("widgets/stepper.js")] if showing.walked else []
    if showing.chosen:
        scripts = [atlases()]  # has the stepper as well
    if showing.answers:
        parts.append(f'<div class="scored">{SCORE}</div>\n')
        scripts.append(inline(showing.answers))
    return Body(lesson, "".join(parts), tuple(scripts))


def _folded(code: str) -> str:
    """The code of a question, which has its answer in it."""
    if not code:
        return ""
    told = "The code of this question, with its answer"
    return f'<details class="spoiler"><summary>{told}</summary>\n{code}</details>\n'


def _home(bodies: Sequence[Body], chapters: Sequence[Chapter], reference: str) -> str:
    """The table of contents, below what its own lesson says, if there is one."""
    own = next((b for b in bodies if b.lesson.is_contents), None)
    html = (
        own.html if own else f"<h1>{NAME}</h1>\n<p>Lessons about loops and their gradients.</p>\n"
    )
    script = (HERE / "search.js").read_text(encoding="utf-8")
    script += f'\nsearch(document.querySelector(".contents"), {index(chapters)});\n'
    scripts = (*(own.scripts if own else ()), script)
    title = f"{own.lesson.title} · {NAME}" if own else NAME
    return leaf(title, html + table(chapters), scripts, _top(reference))


def _top(reference: str) -> str:
    more = f'<a href="{reference}">Reference</a>' if reference else ""
    return f'<nav class="top" aria-label="Site"><a href="{HOME}">Contents</a>{more}</nav>\n'


def _ways(before: Lesson | None, after: Lesson | None) -> str:
    """Links to the neighbours of a lesson."""
    back = f'<a rel="prev" href="{before.page}">← {text(before.title)}</a>' if before else ""
    on = f'<a rel="next" href="{after.page}">{text(after.title)} →</a>' if after else ""
    return f'<nav class="ways" aria-label="Lessons"><span>{back}</span><span>{on}</span></nav>\n'


def _write(out: Path, page: str, name: str, content: str) -> Path:
    return write_whole(out / page, check(name, content))
