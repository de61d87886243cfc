"""The command ``scantape page``, which writes an offline page with tape machines."""

import argparse

from lab.errors import LabError, listing
from lab.loops.loop import Loop
from visual.cli.shared import Commands, add, add_command, load, show, typed_options
from visual.options import TAPS, option_error, words
from visual.player.grid import CHOICES, LOOPS, TITLE, loops_of
from visual.player.page import Page
from visual.widgets.widget import page_path

EXAMPLES = """\
examples:
  scantape page --out lesson.html
  scantape page --loops square --orders 1,2,3 --taps=-1/-2,-1 --out square.html
  scantape page --loops square,coupled --taps=square=-1/-3,-1 \\
      --taps="coupled=prey:-1;hunters:-2" --rules correct,never-accumulate --out two.html
  scantape page --loops mymodule:myloop --costs last --out mine.html

Separate tap patterns by /. Without --loops, --orders, and --rules, square also has order 3 and the
rule accumulate-overwritten. The page needs neither Python nor a network. Readers of the page choose
a loop, play the machine, and drag the given values.
"""


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    summary = "write a page with tape machines, which recompute values without Python"
    parser = add_command(commands, "page", _page, summary, EXAMPLES)
    out = "file to write; ends in .html"
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help=out)
    loops = f"gallery loops, or module:function (default: {','.join(LOOPS)})"
    parser.add_argument("--loops", metavar="NAME,…", help=loops)
    taps = (
        "tap patterns, as in square=-1/-2,-1, or -1/-2,-1 for a single loop; for several "
        "variables: prey:-1;hunters:-2 (default: the loop's taps and a few others)"
    )
    parser.add_argument("--taps", action="append", default=[], metavar="TAPS/…", help=taps)
    add(parser, *CHOICES)
    parser.add_argument("--title", default=TITLE, metavar="TITLE", help="title of the page")


def _page(options: argparse.Namespace) -> None:
    page_path(options.out)  # raises an error before the work
    loops = loops_of([load("--loops", name) for name in words(options.loops)] or None, LOOPS)
    page = Page(
        loops=loops if options.loops else None,
        taps=dict(_taps(text, loops) for text in options.taps),
        **typed_options(options, CHOICES),
        title=options.title,
    )
    path = page.save(options.out)
    missing = sum(isinstance(run, LabError) for run in page.runs.values())
    count, size = len(page.runs) - missing, path.stat().st_size / 1e6
    more = f"; {missing} combinations have no derivative" if missing else ""
    show(f"{path}: {count} machines, {size:.1f} MB{more}.")


def _taps(text: str, loops: tuple[Loop, ...]) -> tuple[str, list[dict[str, tuple[int, ...]]]]:
    """Split ``square=-1/-2,-1`` into the name of a loop and a list of tap patterns."""
    name, _, patterns = text.rpartition("=")
    names = [loop.name for loop in loops]
    if name.strip() not in (names if name or len(names) > 1 else [""]):
        first = f"{listing(names, 'or')} first, as in {names[0]}=-2,-1"
        raise option_error("--taps", text, f"expected {first}.")
    return name.strip() or names[0], [TAPS.parse(p.split(";")) for p in patterns.split("/")]
