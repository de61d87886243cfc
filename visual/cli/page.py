"""The command ``scantape page``: an atlas as one offline file."""

import argparse

from lab.errors import ArgumentError, LabError, listing, shortened
from lab.loops.loop import Loop
from visual.atlas.atlas import Atlas
from visual.atlas.grid import CHOICES, LOOPS, TITLE
from visual.cli.shared import Commands, add, loop_named, show
from visual.options import TAPS, words

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


def add_command(commands: Commands) -> None:
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
    add(parser, *CHOICES)
    parser.add_argument("--title", default=TITLE, metavar="WORDS", help="the title of the page")
    parser.set_defaults(run=_page)


def _page(options: argparse.Namespace) -> None:
    loops = [loop_named(name, "--loops") for name in words(options.loops) or LOOPS]
    atlas = Atlas(
        loops=loops if options.loops else None,
        taps=dict(_taps(text, loops) for text in options.taps),
        **{one.name: one.read(getattr(options, one.name), None) for one in CHOICES},
        title=options.title,
    )
    path = atlas.save(options.out)
    lacking = sum(isinstance(entry.found, LabError) for entry in atlas.entries)
    count, size = len(atlas.entries) - lacking, path.stat().st_size / 1e6
    more = f"; {lacking} more cannot be drawn" if lacking else ""
    show(f"{path}: {count} pictures, {size:.1f} MB{more}.")


def _taps(text: str, loops: list[Loop]) -> tuple[str, list[dict[str, tuple[int, ...]]]]:
    """``square=-1/-2,-1`` as a loop's name and patterns."""
    name, equals, patterns = text.rpartition("=")
    if not equals:
        if len(loops) > 1:
            raise ArgumentError(
                f"--taps {shortened(text)}: of which loop? Write it as in square=-2,-1."
            )
        name = loops[0].name
    named = [loop for loop in loops if loop.name == name.strip()]
    if not named:
        known = listing(loop.name for loop in loops)
        raise ArgumentError(f"--taps {shortened(text)}: the loops of this page are {known}.")
    return named[0].name, [TAPS.read(one.split(";"), named[0]) for one in patterns.split("/")]
