"""The command ``scantape draw``."""

import argparse
from typing import Any

from lab.errors import ArgumentError, listing
from visual.cli.options import add_choices, check_drawing, chosen, loop_named, numbers, write
from visual.drawing.draw import draw
from visual.drawing.figures import figure
from visual.drawing.kinds import PICTURES, Picture, picture_named
from visual.scene.formats import SUFFIXES

EXAMPLES = """\
  scantape draw tapes --loop square -o tape.svg          the tape of x**2, four times
  scantape draw tapes --loop square -o - --order 2       the second derivative, as text
  scantape draw tapes --loop square --taps=-2,-1 -o tape.svg
  scantape draw tapes --loop coupled --wrt birth --cost sum -o total.svg
  scantape draw unrolled --loop square --order 2 -o loops.pdf
  scantape draw unrolled --figure 4 -o figure4.png --scale 3
  scantape draw tapes --loop mymodule:myloop --at x=0.5 -o mine.svg"""


def add(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "draw",
        help="draw one picture of a loop's derivative",
        epilog=f"examples:\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("picture", metavar="PICTURE", help=f"{listing(PICTURES)}")
    parser.add_argument("--loop", metavar="NAME", help="a gallery loop, or module:function")
    parser.add_argument(
        "--figure",
        type=int,
        metavar="N",
        help="instead of a loop: figure 1 to 8 of the square loop, unrolled",
    )
    parser.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="FILE",
        help=f"where to write: {listing(SUFFIXES)} tells the format; - is text on the screen",
    )
    add_choices(parser)
    options = parser.add_argument_group("options of some pictures")
    options.add_argument("--around", type=int, metavar="STEP", help="unfold a long loop here")
    options.add_argument("--step", type=int, metavar="STEP", help="the step to show, from 0")
    options.add_argument(
        "--scan", type=int, metavar="N", help="the Scan to show, by its number in the headings"
    )
    options.add_argument(
        "--scans", metavar="N,N", help="the Scans to unroll, by their numbers in the headings"
    )
    options.add_argument("--buffer", action="store_true", help="tapes in the buffer's order")
    options.add_argument(
        "--contributions", action="store_true", help="in tapes: what came directly, and what later"
    )
    options.add_argument(
        "--all-direct", action="store_true", help="unrolled: every gradient with its direct part"
    )
    parser.set_defaults(run=_draw)


def _draw(options: argparse.Namespace) -> None:
    picture_named(options.picture)
    check_drawing(options)
    write(_picture(options), options)


def _picture(options: argparse.Namespace) -> Picture:
    if options.figure is not None:
        if options.picture != "unrolled" or options.loop is not None:
            raise ArgumentError("--figure: the figures are unrolled, and choose their own loop.")
        return figure(options.figure, options.theme)
    if options.loop is None:
        raise ArgumentError("--loop: name a loop, or for unrolled a --figure from 1 to 8.")
    names = ("around", "step", "scan", "buffer", "contributions", "all_direct")
    asked = {name: getattr(options, name) for name in names}
    asked["scans"] = numbers("--scans", options.scans) if options.scans else None
    own = {name: value for name, value in asked.items() if value is not None and value is not False}
    loop = loop_named(options.loop)
    return draw(loop, options.picture, options.theme, **own, **chosen(options, loop))
