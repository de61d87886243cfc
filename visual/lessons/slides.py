"""Slides of a lesson: one page with reveal.js in it, which needs no network.

    >>> slides(Path("notebooks/01_loop.md"))

The code of the lesson is run here.  Each cell that shows something is a slide; what is walked
through shows one step after another, and nothing of what has not happened.  A picture that would be
too small to be read is shown part by part.  Prose is for the speaker.
"""

import ast
import contextlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from lab.errors import ArgumentError, LabError, first_line, one_of, quoted
from visual.exercises.sheet import Asked
from visual.exercises.work import Checked
from visual.lessons.copies import lessons
from visual.pictures.moment.moment import moment
from visual.scene.shapes import Box, Scene, Text
from visual.widgets.stepper import Stepper
from visual.workbench.workbench import Workbench

CELL = re.compile(
    r"```\{code-cell\} ipython3\n(---\n.*?\n---\n|(?::[^\n]*\n)*)\n?(.*?)```", re.DOTALL
)
LEAD = re.compile(r"\s*(?![#`])(\S.*?)(?=\n\n|\n#|\n```|\Z)", re.DOTALL)
UNTOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
HIDDEN, MOST = "source_hidden", 12
WIDE, HIGH, LINE = 1200, 640, 26  # what is below a heading, and a line of code in it
LEAST, LARGEST = 1.1, 1.6  # scales of pictures: the smallest letters are read from 1.1 on
PANEL = 150  # boxes so high are behind others: a picture may be cut there
FILES = ("dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js")
STYLE = """\
.reveal{font:26px/1.4 sans-serif;color:#1b1b1b;background:#fff}
.reveal h1{font-size:2em}.reveal h2{font-size:1.1em;margin:0 0 .6em;color:#555}
.reveal pre{font:.7em/1.4 monospace;text-align:left;display:inline-block;max-width:100%;
margin:.3em auto;padding:.4em 1em;background:#f2f3f5;white-space:pre-wrap}
.reveal .output{background:none}
.reveal .r-stack>*{grid-area:1/1}
.reveal ul{display:inline-block;text-align:left}"""


@dataclass
class Slide:
    """What is on a slide, and what is said."""

    heading: str
    shown: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def html(self) -> str:
        """The slide as reveal.js takes it."""
        notes = _paragraphs(self.said)
        inside = "\n".join(self.shown)
        return (
            f"<section><h2>{escape(self.heading)}</h2>\n{inside}\n"
            f'<aside class="notes">{notes}</aside></section>'
        )


def slides(lesson: Path) -> str:
    """The page; ArgumentError if the lesson is none, or fails."""
    if find_spec("sphinx_revealjs") is None:
        raise LabError("slides: reveal.js is not installed; pip install 'scantape[site]'.")
    text = _text(lesson)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if title is None:
        raise ArgumentError(f"lesson = {quoted(str(lesson))}: expected a text with a title.")
    style, script, notes = map(_part, FILES)
    body = text[title.end() :]
    first = LEAD.match(body)
    lead, rest = (_paragraphs([first[1]]), body[first.end() :]) if first else ("", body)
    body = "\n".join(slide.html() for slide in [*_slides(title[1], rest)])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title[1])}</title><style>{style}{STYLE}</style></head>\n"
        f'<body><div class="reveal"><div class="slides">\n'
        f"<section><h1>{escape(title[1])}</h1>{lead}</section>\n{body}\n</div></div>\n"
        f"<script>{script}</script><script>{notes}</script>\n"
        "<script>Reveal.initialize({plugins: [RevealNotes], transition: 'none', width: 1280, "
        "height: 720, margin: 0.04});</script></body></html>\n"
    )


def found(name: str) -> Path:
    """A lesson by its path, or one that came with the package by its name."""
    known = {path.stem: path for path in lessons() if path.suffix == ".md"}
    return Path(name) if Path(name).suffix else known[one_of("lesson", name, known)]


def _text(lesson: Path) -> str:
    """A lesson as text, from a notebook, too."""
    try:
        if lesson.suffix == ".ipynb":
            import jupytext

            return str(jupytext.writes(jupytext.read(lesson), "md:myst"))
        return lesson.read_text(encoding="utf-8")
    except (OSError, ValueError, ImportError) as error:
        why = getattr(error, "strerror", None) or first_line(error)
        raise ArgumentError(f"lesson = {quoted(str(lesson))}: {why}.") from error


def _part(name: str) -> str:
    spec = find_spec("sphinx_revealjs")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "_static" / "revealjs" / name
    return path.read_text(encoding="utf-8").replace("</script", "<\\/script")


def _slides(title: str, text: str) -> Iterator[Slide]:
    """A slide for every cell that shows something, and for what is only said."""
    names: dict[str, object] = {}
    slide = last = Slide(title)
    for part in _parts(UNTOLD.sub("", text)):
        if isinstance(part, str):
            for words in filter(None, map(str.strip, part.split("\n\n"))):
                if words.startswith("#"):
                    yield from _left(slide, last)
                    slide = Slide(words.lstrip("# "))
                else:
                    slide.said.append(words)
            continue
        metadata, code = part
        value, printed = _run(code, names)
        texts = []
        if "grade_id: mine-" in metadata:  # a cell to write in: the task is for everyone
            texts, slide.said = [_paragraphs(slide.said)], []
        if HIDDEN not in metadata and not re.fullmatch(r"((import|from) .*\n|\n)*", code):
            texts.insert(0, f"<pre>{escape(code.rstrip())}</pre>")
        room = HIGH - LINE * sum(one.count("\n") + 2 for one in texts)
        if printed:
            texts.append(_written(printed.rstrip(), room))
            room -= LINE * (texts[-1].count("\n") + 2)
        if texts and _height(value) * LEAST > room:  # there is no room for the picture
            yield Slide(slide.heading, texts, slide.said)
            texts, slide.said, room = [], [], HIGH
        slide.shown += [*texts, *_shown(value, room)]
        if slide.shown:
            yield slide
            last, slide = slide, Slide(slide.heading)
    if slide.said and not slide.said[0].startswith("Next:"):
        yield from _left(slide, last)


def _left(slide: Slide, last: Slide) -> Iterator[Slide]:
    """What is said when nothing more is shown: over the last picture, or else to be read."""
    if slide.said and slide.heading == last.heading and last.shown:
        last.said += slide.said
    elif slide.said:
        slide.shown.append(_paragraphs(slide.said))
        yield slide


def _parts(text: str) -> Iterator[str | tuple[str, str]]:
    """Prose, and cells with their metadata, in their order."""
    end = 0
    for cell in CELL.finditer(text):
        yield text[end : cell.start()]
        yield cell[1], cell[2]
        end = cell.end()
    yield text[end:]


def _run(code: str, names: dict[str, object]) -> tuple[object, str]:
    """The value of a cell's last expression, and what it printed."""
    tree, value = ast.parse(code), None
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(tree, "<lesson>", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<lesson>", "eval"), names)
        except Exception as error:  # whatever a lesson does
            raise ArgumentError(f"lesson: a cell fails with {first_line(error)}: {code}") from error
    return value, printed.getvalue()


def _paragraphs(said: list[str]) -> str:
    return "".join(f"<p>{escape(plain(words))}</p>" for words in said)


def _height(value: object) -> float:
    """How high the picture is that a cell shows."""
    if isinstance(value, Workbench):
        value = value.picture
    if isinstance(value, Stepper):
        return max(scene.height for scene in _walked(value))
    return value.height if isinstance(value, Scene) else 0


def _shown(value: object, room: float) -> Iterator[str]:
    """What a cell shows, as HTML; a picture in so much room."""
    if isinstance(value, Scene):
        yield _stack(_cut(value, room))
    elif isinstance(value, Stepper):
        yield _stack([part for scene in _walked(value) for part in _cut(scene, room)])
    elif isinstance(value, Asked):
        yield _asked(value)
    elif isinstance(value, Workbench):
        yield _stack(_cut(value.picture, room))
    elif isinstance(value, Checked):
        return
    elif hasattr(value, "_repr_mimebundle_"):
        yield _written(str(value), room)
    elif value is not None:
        yield _written(repr(value), room)


def _written(words: str, room: float) -> str:
    """What was printed, in letters that are small enough for all of it."""
    lines, size = words.splitlines() or [""], 0.7
    while size > 0.2 and _folded(lines, size) * LINE * size * 1.4 > 0.95 * room:
        size -= 0.02
    small = f" style='font-size:{size:.3f}em'" if size < 0.7 else ""
    return f"<pre class='output'{small}>{escape(words)}</pre>"


def _folded(lines: list[str], size: float) -> int:
    """In how many lines letters of this size are folded."""
    return sum(-(-max(1, len(line)) // int(WIDE / (0.62 * LINE * size))) for line in lines)


def _walked(stepper: Stepper) -> Sequence[Scene]:
    """The steps of the last Scan, one large picture after another."""
    trace = getattr(stepper.scenes[0], "trace", None)
    if trace is None:
        return stepper.scenes
    last = len(trace.scans)
    steps = range(min(trace.scans[last - 1].steps, MOST))
    return [moment(trace, scan=last, step=step) for step in steps]


def _cut(scene: Scene, room: float) -> list[str]:
    """A picture as large as there is room; one that is too high in parts, between its texts."""
    most = room / LEAST
    solid = sorted(
        (shape.y, shape.y + shape.height) if isinstance(shape, Box) else (shape.y - 14, shape.y + 4)
        for shape in scene.walk()
        if isinstance(shape, Text) or (isinstance(shape, Box) and shape.height < PANEL)
    )
    free, bottom = {}, 0.0
    for top, end in solid:
        if top > bottom:
            free[(top + bottom) / 2] = top - bottom
        bottom = max(bottom, end)
    cuts = [0.0]
    while scene.height - cuts[-1] > most:
        wanted = (scene.height - cuts[-1]) / -(-(scene.height - cuts[-1]) // most)
        within = [y for y in free if cuts[-1] < y <= cuts[-1] + most]
        middle = cuts[-1] + wanted
        best = min(within, key=lambda y: abs(y - middle) - 8 * free[y], default=cuts[-1] + most)
        cuts.append(best)
    parts = list(pairwise([*cuts, scene.height]))
    highest = max(end - top for top, end in parts)
    return [_part_of(scene, top, end, room * (end - top) / highest) for top, end in parts]


def _part_of(scene: Scene, top: float, end: float, room: float) -> str:
    """The part of a picture between two heights, as large as it can be in so much room."""
    scale = min(WIDE / scene.width, room / (end - top), LARGEST)
    size = f'width="{scene.width * scale:.0f}" height="{(end - top) * scale:.0f}"'
    box = f'viewBox="0 {top:g} {scene.width:g} {end - top:g}"'
    head, rest = scene.svg().split(">", 1)
    head = re.sub(r' (width|height|viewBox)="[^"]*"', "", head)
    return f"{head} {size} {box}>{rest}"


def _stack(drawn: Sequence[str]) -> str:
    fragments = (_fragment(svg, step, len(drawn)) for step, svg in enumerate(drawn))
    return f"<div class='r-stack'>{''.join(fragments)}</div>"


def _fragment(svg: str, number: int, count: int) -> str:
    """A picture that goes when the next one comes."""
    if count == 1:
        return f"<div>{svg}</div>"
    kind = "fade-out" if not number else "current-visible" if number < count - 1 else ""
    at = max(0, number - 1)
    return f"<div class='fragment {kind}' data-fragment-index='{at}'>{svg}</div>"


def _asked(asked: Asked) -> str:
    """A question with what can be chosen; the answer comes with the next key."""
    task = asked.task
    choices = "".join(f"<li>{escape(choice)}</li>" for choice in task.answer.choices)
    shown = _part_of(task.shown, 0, task.shown.height, HIGH / 2) if task.shown else ""
    return (
        f"<p>{escape(task.question)}</p>{shown}<ul>{choices}</ul>"
        f"<p class='fragment'><b>{escape(task.answer.told)}</b>. {escape(task.answer.working)}</p>"
    )


def plain(words: str) -> str:
    """Markdown as it is spoken."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
    return re.sub(r"\s+", " ", re.sub(r"\*\*|`|(?<!\w)\*|\*(?!\w)", "", words))
