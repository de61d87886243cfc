"""The command ``scantape page``: an atlas as one offline file."""

import argparse
from collections.abc import Iterator
from typing import Any

from lab.errors import ArgumentError, LabError, listing
from lab.loops.loop import Loop
from visual.atlas.atlas import LOOPS, ORDERS, THEMES, TITLE, VIEWS, Atlas
from visual.atlas.choices import COSTS, own
from visual.cli.options import loop_named
from visual.drawing.kinds import PICTURES

EXAMPLES = """\
examples:
  scantape page --out lesson.html
  scantape page --loops square --orders 1,2,3 --taps=-1/-2,-1 --out square.html
  scantape page --loops square,coupled --taps=square=-1/-3,-1 \\
      --taps="coupled=prey:-1;hunters:-2" --views tapes,ssa --out two.html
  scantape page --loops mymodule:myloop --costs last/0,0,1 --out mine.html

Patterns of taps are parted by /, as are costs that have weights.  The page is opened from its
file and needs neither Python nor a network.
"""


def add(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "page",
        help="write a page on which loops, taps and orders are chosen without Python",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="where to write; ends in .html"
    )
    parser.add_argument(
        "--loops", metavar="NAME,…", help=f"of the gallery, or module:function ({','.join(LOOPS)})"
    )
    parser.add_argument(
        "--taps",
        action="append",
        default=[],
        metavar="TAPS/…",
        help="the patterns of a loop, as in square=-1/-2,-1; of a single loop without its name. "
        "Taps of named variables: prey:-1;hunters:-2 (the loop's own, and a few others)",
    )
    parser.add_argument("--orders", metavar="N,…", help=f"of the derivative ({_joined(ORDERS)})")
    parser.add_argument(
        "--costs", metavar="COST,…", help=f"last, sum, or a weight for each step ({_joined(COSTS)})"
    )
    parser.add_argument("--views", metavar="NAME,…", help=f"{listing(PICTURES)} ({_joined(VIEWS)})")
    parser.add_argument(
        "--themes",
        default=_joined(THEMES),
        metavar="NAME,…",
        help="light, dark, print (%(default)s)",
    )
    parser.add_argument("--title", default=TITLE, metavar="WORDS", help="the title of the page")
    parser.set_defaults(run=_page)


def _joined(items: tuple[Any, ...]) -> str:
    return ",".join(map(str, items))


def _page(options: argparse.Namespace) -> None:
    names = _words(options.loops) or LOOPS
    loops = [loop_named(name, "--loops") for name in names]
    atlas = Atlas(
        loops=loops if options.loops else None,
        taps=dict(_taps(text, loops) for text in options.taps),
        orders=[_order(word) for word in _words(options.orders)] or None,
        costs=list(_costs(options.costs)) or None,
        views=_words(options.views) or None,
        themes=_words(options.themes),
        title=options.title,
    )
    path = atlas.save(options.out)
    lacking = sum(isinstance(entry.found, LabError) for entry in atlas.entries)
    count, size = len(atlas.entries) - lacking, path.stat().st_size / 1e6
    more = f"; {lacking} more cannot be drawn" if lacking else ""
    print(f"{path}: {count} pictures, {size:.1f} MB{more}.")


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def _order(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ArgumentError(f"--orders {word}: expected whole numbers, as in 1,2.") from None


def _costs(text: str | None) -> Iterator[Any]:
    """``last,sum`` or ``last/0,0,1``: weights go together between the slashes."""
    for part in (text or "").split("/"):
        words = _words(part)
        if all(word in COSTS for word in words):
            yield from words
        else:
            yield _numbers(f"--costs {part}", words, float, "last, sum, or weights as in 0,0,1,0.5")


def _taps(text: str, loops: list[Loop]) -> tuple[str, list[dict[str, tuple[int, ...]]]]:
    """``square=-1/-2,-1`` as a loop's name and patterns."""
    name, equals, patterns = text.rpartition("=")
    if not equals:
        if len(loops) > 1:
            raise ArgumentError(f"--taps {text}: of which loop? Write it as in square=-2,-1.")
        name = loops[0].name
    found = [loop for loop in loops if loop.name == name.strip()]
    if not found:
        known = listing(loop.name for loop in loops)
        raise ArgumentError(f"--taps {text}: the loops of this page are {known}.")
    return found[0].name, [dict(_pattern(text, one, found[0])) for one in patterns.split("/")]


def _pattern(text: str, pattern: str, loop: Loop) -> Iterator[tuple[str, tuple[int, ...]]]:
    """``-2,-1`` or ``prey:-1;hunters:-2`` as names and taps."""
    for part in pattern.split(";"):
        name, colon, numbers = part.rpartition(":")
        if not colon:
            if not own(loop).taps:
                raise ArgumentError(f"--taps {text}: this loop has no state; name a sequence.")
            name = loop.states[0].name
        yield name.strip(), _numbers(f"--taps {text}", _words(numbers), int, "taps as in -2,-1")


def _numbers(option: str, words: list[str], kind: Any, expected: str) -> tuple[Any, ...]:
    try:
        if not words:
            raise ValueError
        return tuple(map(kind, words))
    except ValueError:
        raise ArgumentError(f"{option}: expected {expected}.") from None
