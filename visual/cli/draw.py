"""The command ``scantape draw``."""

import argparse
import re
from typing import Any

from lab.errors import ArgumentError, listing
from visual.cli.shared import (
    Commands,
    add,
    add_drawing,
    check_drawing,
    drawing_arguments,
    load,
    write,
)
from visual.drawing.catalogue import OPTIONS, PAPER, PICTURES
from visual.drawing.draw import draw
from visual.drawing.figures import FIGURES, figure
from visual.scene.formats import SUFFIXES
from visual.scene.shapes import Scene

EXAMPLES = """\
  scantape draw tapes --loop square -o tape.svg          the tape of x**2, four times
  scantape draw tapes --loop square -o - --order 2       the second derivative, as text
  scantape draw tapes --loop square --taps=-2,-1 -o tape.svg
  scantape draw tapes --loop coupled --wrt birth --cost sum -o total.svg
  scantape draw unrolled --loop square --order 2 -o loops.pdf
  scantape draw figure4 -o figure4.png --scale 3         one of eight figures of the square loop
  scantape draw tapes --loop mymodule:myloop --at x=0.5 -o mine.svg
  scantape draw tapes --loop mymodule:mymodel --wrt rho --order 2 -o model.svg
  scantape draw tapes --loop square --width column --theme print -o figure.pdf
  scantape draw tapes --loop gap --steps 2:5 -o figure.pdf
  scantape draw tapes --loop square --animate -o walk.svg"""

OF_A_LOOP: dict[str, Any] = {
    "loop": None,
    "taps": [],
    "order": 1,
    "wrt": None,
    "of": None,
    "cost": "last",
    "at": [],
}


def add_command(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "draw",
        help="draw one picture of a derivative",
        epilog=f"examples:\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = f"{listing(PICTURES)}; or figure1 to figure{len(FIGURES)}"
    parser.add_argument("picture", metavar="PICTURE", help=kinds)
    out = f"file to write ({', '.join(SUFFIXES)}), or - for text on the screen"
    output = add_drawing(parser, out, needs_loop=False)
    output.add_argument(
        "--animate", action="store_true", help="let the steps of an .svg appear one by one"
    )
    add(output, *PAPER)
    add(parser.add_argument_group("picture"), *OPTIONS)
    parser.set_defaults(run=_draw)


def _draw(options: argparse.Namespace) -> None:
    check_drawing(options, options.animate)
    write(picture(options), options, options.animate)


def picture(options: argparse.Namespace) -> Scene:
    """Draw the picture that the options select; raise ArgumentError if they are invalid."""
    number = re.fullmatch(r"figure(\d+)", options.picture)
    if number is not None:
        if int(number[1]) not in FIGURES:
            last = len(FIGURES)
            raise ArgumentError(f"PICTURE {options.picture}: expected figure1 to figure{last}.")
        for name, default in OF_A_LOOP.items():
            if getattr(options, name) != default:
                raise ArgumentError(f"--{name}: a figure has no such choice; omit the option.")
        paper = {one.name: getattr(options, one.name) for one in PAPER}
        given = {name: value for name, value in paper.items() if value}
        return figure(int(number[1]), options.theme, **given)
    PICTURES[options.picture]
    if options.loop is None:
        raise ArgumentError("--loop: expected the name of a gallery loop, or module:function.")
    subject: Any = load("--loop", options.loop)
    own = {
        option.name: option.parse(value, subject)
        for option in (*PAPER, *OPTIONS)
        if (value := getattr(options, option.name)) not in (option.default, "")
    }
    subject, values, about = drawing_arguments(options, subject)
    return draw(subject, options.picture, options.theme, values, **own, **about)
