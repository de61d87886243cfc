"""The command ``scantape draw``."""

import argparse
from typing import Any

from lab.errors import ArgumentError, listing
from visual.cli.shared import Commands, add, add_drawing, check_drawing, made_by, posed, write
from visual.drawing.catalogue import OPTIONS, PAPER, PICTURES
from visual.drawing.draw import draw
from visual.drawing.figures import figure
from visual.scene.formats import SUFFIXES
from visual.scene.shapes import Scene

EXAMPLES = """\
  scantape draw tapes --loop square -o tape.svg          the tape of x**2, four times
  scantape draw tapes --loop square -o - --order 2       the second derivative, as text
  scantape draw tapes --loop square --taps=-2,-1 -o tape.svg
  scantape draw tapes --loop coupled --wrt birth --cost sum -o total.svg
  scantape draw unrolled --loop square --order 2 -o loops.pdf
  scantape draw unrolled --figure 4 -o figure4.png --scale 3
  scantape draw tapes --loop mymodule:myloop --at x=0.5 -o mine.svg
  scantape draw tapes --loop mymodule:mymodel --wrt rho --order 2 -o model.svg
  scantape draw tapes --loop square --width column --theme print -o figure.pdf
  scantape draw tapes --loop gap --steps 2:5 -o figure.pdf
  scantape draw tapes --loop square --animate -o walk.svg"""


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "draw",
        help="draw one picture of a loop's derivative",
        epilog=f"examples:\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("picture", metavar="PICTURE", help=f"{listing(PICTURES)}")
    parser.add_argument(
        "--figure",
        type=int,
        metavar="N",
        help="instead of a loop: figure 1 to 8 of the square loop, unrolled",
    )
    out = f"where to write: {listing(SUFFIXES)} tells the format; - is text on the screen"
    add_drawing(parser, out, needs_loop=False)
    parser.add_argument(
        "--animate", action="store_true", help="an .svg whose steps appear one by one"
    )
    add(parser.add_argument_group("options for a paper"), *PAPER)
    add(parser.add_argument_group("options of some pictures"), *OPTIONS)
    parser.set_defaults(run=_draw)


def _draw(options: argparse.Namespace) -> None:
    check_drawing(options, options.animate)
    write(picture(options), options, options.animate)


def picture(options: argparse.Namespace) -> Scene:
    """The picture that is asked for; ArgumentError for one that cannot be."""
    PICTURES[options.picture]
    if options.figure is not None:
        if options.picture != "unrolled" or options.loop is not None:
            raise ArgumentError("--figure: the figures are unrolled, and choose their own loop.")
        paper = {one.name: getattr(options, one.name) for one in PAPER}
        given = {name: value for name, value in paper.items() if value}
        return figure(options.figure, options.theme, **given)
    if options.loop is None:
        raise ArgumentError("--loop: name a loop, or for unrolled a --figure from 1 to 8.")
    subject: Any = made_by("--loop", options.loop)
    own = {
        option.name: option.read(value, subject)
        for option in (*PAPER, *OPTIONS)
        if (value := getattr(options, option.name)) not in (option.default, "")
    }
    subject, values, about = posed(options, subject)
    return draw(subject, options.picture, options.theme, values, **own, **about)
