"""The table of contents of all lessons, and what is searched in it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from lesson import Lesson

from visual.backends.svg import text

HEADINGS = ("h1", "h2", "h3")
BLOCKS = ("p", "li", "pre", "td", "th", "div", "br", "dt", "dd")
UNSEARCHED = ("svg", "math", "details", "form", "script")  # solutions are not given away


@dataclass(frozen=True)
class Section:
    """A heading of a page and the text below it, up to the next one."""

    anchor: str
    level: int
    title: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """A lesson and its sections, first that of its title."""

    lesson: Lesson
    sections: tuple[Section, ...]


class _Reader(HTMLParser):
    """Cuts a page at its headings; each part is its level, its anchor, its title and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[tuple[int, str, list[str], list[str]]] = []
        self._skipped = 0
        self._words: list[str] = []  # where words go; those before the first heading nowhere

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in UNSEARCHED
        anchor = dict(attrs).get("id")
        if tag in HEADINGS and anchor and not self._skipped:
            self.parts.append((int(tag[1]), anchor, [], []))
            self._words = self.parts[-1][2]
        elif tag in BLOCKS:
            self._words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in UNSEARCHED
        if tag in HEADINGS and self.parts:
            self._words = self.parts[-1][3]

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._words.append(data)


def sections(body: str) -> tuple[Section, ...]:
    """The sections of a page."""
    reader = _Reader()
    reader.feed(body)
    return tuple(
        Section(anchor, level, _joined(title), _joined(words))
        for level, anchor, title, words in reader.parts
    )


def _joined(words: Iterable[str]) -> str:
    return " ".join("".join(words).split())


def table(chapters: Sequence[Chapter]) -> str:
    """The contents as HTML, with a field to search in them."""
    listed = "".join(map(_chapter, chapters))
    return (
        '<section class="contents" aria-label="All lessons">\n<h2 id="all-lessons">All lessons</h2>'
        '\n<p class="search" hidden><label>Search the lessons '
        '<input type="search" autocomplete="off" spellcheck="false"></label></p>\n'
        f'<p class="found" role="status"></p>\n<ol>{listed}</ol>\n</section>\n'
    )


def _chapter(chapter: Chapter) -> str:
    page = chapter.lesson.page
    inside = "".join(
        f'<li><a href="{page}#{part.anchor}">{text(part.title)}</a></li>'
        for part in chapter.sections[1:]
    )
    inside = f"<ul>{inside}</ul>" if inside else ""
    return f'<li><a href="{page}">{text(chapter.lesson.title)}</a>{inside}</li>\n'


def index(chapters: Iterable[Chapter]) -> str:
    """What is searched, as JSON that can stand in a script: the texts in the order of the table."""
    made = [[part.text for part in chapter.sections] for chapter in chapters]
    return json.dumps(made, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
