"""Prose as HTML: Markdown as JupyterLab reads it, with formulas and highlighted code."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latex2mathml.converter import convert
from lesson import Lesson, SiteError
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from visual.backends.svg import text

ABROAD = re.compile(r"https?://|mailto:")


@dataclass
class Prose:
    """All cells of prose of a lesson, which share anchors and footnotes."""

    lesson: Lesson
    pages: Mapping[str, str]  # of every lesson that can be linked, by its name

    def __post_init__(self) -> None:
        self._anchors: set[str] = set()
        self._reader = _reader(self._slug)

    def _slug(self, title: str) -> str:
        """An anchor that no other heading of the page has."""
        base = "-".join(re.findall(r"\w+", title.lower())) or "part"
        anchor, number = base, 1
        while anchor in self._anchors:
            number += 1
            anchor = f"{base}-{number}"
        self._anchors.add(anchor)
        return anchor

    def html(self, source: str, number: int) -> str:
        """The HTML of a cell; `number` is named in errors, and keeps footnotes apart."""
        env = {"docId": str(number)}
        tokens = self._reader.parse(source, env)
        for token in _walk(tokens):
            self._look_at(token, number)
        try:
            return self._reader.renderer.render(tokens, self._reader.options, env)
        except ValueError as error:
            raise SiteError(f"{self.lesson.path.name}, cell {number}: {error}.") from error

    def _look_at(self, token: Token, number: int) -> None:
        if token.type == "link_open":
            token.attrSet("href", self._link(str(token.attrGet("href")), number))
        if token.type == "image":
            path = self.lesson.path.parent / str(token.attrGet("src"))
            if path.suffix != ".svg" or not path.is_file():
                raise SiteError(
                    f"{self.lesson.path.name}, cell {number}: {token.attrGet('src')!r} is no SVG "
                    "file beside the lesson, and pages load nothing."
                )
            token.meta["svg"] = path.read_text(encoding="utf-8")

    def _link(self, href: str, number: int) -> str:
        """Where a link leads in the site: lessons link to one another as text or as notebooks."""
        if ABROAD.match(href) or href.startswith("#"):
            return href
        name, _, anchor = href.partition("#")
        stem = re.sub(r"\.(md|ipynb|html)$", "", name)
        if stem not in self.pages and self.lesson.is_draft:
            return "#"
        if stem not in self.pages:
            raise SiteError(
                f"{self.lesson.path.name}, cell {number}: the link to {href!r} leads nowhere."
            )
        return self.pages[stem] + (f"#{anchor}" if anchor else "")


def code(source: str, language: str = "python") -> str:
    """Highlighted code in a frame that scrolls."""
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    inside = highlight(source.rstrip("\n"), lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    return f'<pre class="code" tabindex="0"><code>{inside}</code></pre>\n'


def formula(latex: str, is_block: bool) -> str:
    """LaTeX as MathML, which browsers draw themselves; ValueError for what cannot be converted."""
    known = latex.strip().replace(r"{aligned}", "{align*}")
    made = str(convert(known, display="block" if is_block else "inline"))
    if re.search(r"<m\w+>(&|&amp;|\\\w*)</m", made):  # what it does not know, it leaves as letters
        raise ValueError(f"the formula {latex!r} cannot be converted to MathML")
    return made


def _reader(slug: object) -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True, "typographer": False})
    reader.enable(["table", "strikethrough"])
    reader.use(footnote_plugin).use(deflist_plugin).use(tasklists_plugin)
    reader.use(dollarmath_plugin, renderer=_formula, allow_space=False, double_inline=True)
    reader.use(anchors_plugin, max_level=4, slug_func=slug)
    reader.add_render_rule("fence", _fence)
    reader.add_render_rule("image", _image)
    reader.add_render_rule("table_open", _table_open)
    reader.add_render_rule("table_close", _table_close)
    return reader


def _formula(latex: str, options: Mapping[str, bool]) -> str:
    return formula(latex, options["display_mode"])


def _fence(_: RendererHTML, tokens: Sequence[Token], at: int, *__: object) -> str:
    language = tokens[at].info.split()
    return code(tokens[at].content, language[0] if language else "")


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, *__: object) -> str:
    label = text(tokens[at].content)
    return (
        f'<span class="image light" role="img" aria-label="{label}">{tokens[at].meta["svg"]}</span>'
    )


def _table_open(*_: object) -> str:
    return '<div class="table" tabindex="0"><table>\n'


def _table_close(*_: object) -> str:
    return "</table></div>\n"


def _walk(tokens: Sequence[Token]) -> list[Token]:
    return [found for token in tokens for found in (token, *_walk(token.children or ()))]
