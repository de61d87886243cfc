"""A page of the site: it allows itself its own style and scripts, by their hashes, and no more."""

from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import colours
from lesson import SiteError
from pygments.formatters import HtmlFormatter

import visual
from visual.atlas.page import style as atlases
from visual.backends.page import policy
from visual.backends.svg import text
from visual.exercises.page import STYLE as EXERCISES

HERE = Path(__file__).parent
DAY, NIGHT = "xcode", "lightbulb"  # of Pygments' styles, those with enough contrast
LARGEST = 3_000_000
LOADING = ("src", "srcset", "data", "poster", "action", "formaction", "background")
FORBIDDEN = ("link", "img", "iframe", "object", "embed", "base", "audio", "video", "source")


def module(name: str) -> str:
    """A script or a style of `visual`."""
    return (Path(visual.__file__).parent / name).read_text(encoding="utf-8")


@cache
def style() -> str:
    """The style of every page: one text, so one hash."""
    own = (HERE / "site.css").read_text(encoding="utf-8")
    pictures = f"{at_night(colours.style())}"
    return f"{atlases()}\n{EXERCISES}{coloured('.code')}\n{own}\n{pictures}\n"


def at_night(css: str) -> str:
    """Style for dark screens; paper is light, whatever the screen is."""
    return f"@media screen and (prefers-color-scheme:dark){{{css}}}"


def coloured(frame: str) -> str:
    """The style of highlighted code inside what the selector `frame` finds."""
    day, night = (_spans(name, frame) for name in (DAY, NIGHT))
    return f"{day}\n{at_night(night)}"


def _spans(name: str, frame: str) -> str:
    """The colours of spans alone: the frame has its own."""
    rules = HtmlFormatter(style=name).get_style_defs(frame).splitlines()
    return "\n".join(rule for rule in rules if rule.startswith(f"{frame} ."))


def leaf(title: str, body: str, scripts: Sequence[str], around: str = "", after: str = "") -> str:
    """The page of `body`, below the links `around` and above those `after` it."""
    css = style()
    modules = "".join(f'<script type="module">{script}</script>\n' for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy([css], scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>{css}</style>\n</head>\n<body>\n{around}"
        f"<main>\n{body}</main>\n{after}{modules}</body>\n</html>\n"
    )


class _Loader(HTMLParser):
    """Finds what a page would load, and what its policy would not let it do."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if tag in FORBIDDEN:
            self.found.append(f"<{tag}>")
        self.found += [f"{name}= of <{tag}>" for name in names if name in LOADING]
        self.found += [f"{name}= of <{tag}>" for name in names if name.startswith("on")]
        self.found += [f"style= of <{tag}>" for name in names if name == "style"]
        if tag not in ("a", "area"):
            self.found += [f"href= of <{tag}>" for name in names if name.endswith("href")]


def check(name: str, page: str) -> str:
    """The page, if it loads nothing and is not too large; SiteError otherwise."""
    loader = _Loader()
    loader.feed(page)
    if loader.found:
        raise SiteError(f"{name}: its page would load or do what it may not: {loader.found[0]}.")
    size = len(page.encode())
    if size > LARGEST:
        raise SiteError(f"{name}: its page has {size:,} bytes; {LARGEST:,} are allowed.")
    return page
