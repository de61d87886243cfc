"""The command ``scantape page``: machines to choose from as one offline file."""

import argparse

from lab.errors import ArgumentError, LabError, listing, shorten
from lab.loops.loop import Loop
from visual.cli.shared import Commands, add, loop_named, show
from visual.options import TAPS, words
from visual.player.grid import CHOICES, LOOPS, TITLE
from visual.player.page import Page

EXAMPLES = """\
examples:
  scantape page --out lesson.html
  scantape page --loops square --orders 1,2,3 --taps=-1/-2,-1 --out square.html
  scantape page --loops square,coupled --taps=square=-1/-3,-1 \\
      --taps="coupled=prey:-1;hunters:-2" --rules correct,never-accumulate --out two.html
  scantape page --loops mymodule:myloop --costs last/0,0,1 --out mine.html

Write / between patterns of taps, and between costs that have weights.  The page needs neither
Python nor a network.  Its readers choose, play, and drag given values.
"""


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "page",
        help="write a page with the tape machine that recomputes itself without Python",
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
    add(parser, *CHOICES)
    parser.add_argument("--title", default=TITLE, metavar="WORDS", help="the title of the page")
    parser.set_defaults(run=_page)


def _page(options: argparse.Namespace) -> None:
    loops = [loop_named(name, "--loops") for name in words(options.loops) or LOOPS]
    page = Page(
        loops=loops if options.loops else None,
        taps=dict(_taps(text, loops) for text in options.taps),
        **{one.name: one.read(getattr(options, one.name), None) for one in CHOICES},
        title=options.title,
    )
    path = page.save(options.out)
    missing = sum(isinstance(run, LabError) for run in page.runs.values())
    count, size = len(page.runs) - missing, path.stat().st_size / 1e6
    more = f"; {missing} combinations have none" if missing else ""
    show(f"{path}: {count} machines, {size:.1f} MB{more}.")


def _taps(text: str, loops: list[Loop]) -> tuple[str, list[dict[str, tuple[int, ...]]]]:
    """``square=-1/-2,-1`` as a loop's name and patterns."""
    name, equals, patterns = text.rpartition("=")
    if not equals:
        if len(loops) > 1:
            raise ArgumentError(
                f"--taps {shorten(text)}: of which loop? Write it as in square=-2,-1."
            )
        name = loops[0].name
    named = [loop for loop in loops if loop.name == name.strip()]
    if not named:
        known = listing(loop.name for loop in loops)
        raise ArgumentError(f"--taps {shorten(text)}: the loops of this page are {known}.")
    return named[0].name, [TAPS.read(one.split(";"), named[0]) for one in patterns.split("/")]
