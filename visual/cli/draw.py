"""The commands ``scantape loops``, ``draw``, and ``export``."""

import argparse
import re

from lab.errors import ArgumentError, listing
from lab.loops.gallery import loops
from visual.cli import shared
from visual.drawing.catalogue import OPTIONS, PAPER, PICTURES
from visual.drawing.draw import FIGURES, draw, figure
from visual.drawing.export import FORMATS, export
from visual.options import DERIVATIVE, SCALE, STEPS, THEME, option_error
from visual.retired import RETIRED_NAMES, refuse_retired
from visual.scene.formats import SUFFIXES, check_scale, picture_path
from visual.scene.shapes import Scene

EXAMPLES = """\
  scantape draw tapes --loop square -o tape.svg          the tape of x**2, four times
  scantape draw tapes --loop square -o - --order 2       the second derivative, as text
  scantape draw unrolled --loop square --order 2 --taps=-2,-1 -o loops.pdf
  scantape draw figure4 -o figure4.png --scale 3         one of eight figures of the square loop
  scantape draw tapes --loop mymodule:myloop --at x=0.5 -o mine.svg
  scantape draw tapes --loop mymodule:mymodel --wrt rho --order 2 -o model.svg
  scantape draw tapes --loop gap --steps 2:5 --width 170mm --theme print -o figure.pdf
  scantape draw machine --loop square --order 3 --rule accumulate-overwritten -o faulty.svg"""


def add_commands(commands: shared.Commands) -> None:
    """Add the commands to the parser."""
    shared.add_command(commands, "loops", _loops, "list the loops of the gallery")

    summary = "draw one picture of a derivative"
    parser = shared.add_command(commands, "draw", _draw, summary, f"examples:\n{EXAMPLES}")
    kinds = f"{', '.join(PICTURES)}, or figure1 to figure{len(FIGURES)}"
    parser.add_argument("picture", metavar="PICTURE", help=kinds)
    out = f"file to write ({', '.join(SUFFIXES)}), or - for text on the screen"
    output = shared.add_drawing(parser, out, needs_loop=False)
    animate = "let the steps of an .svg appear one by one"
    output.add_argument("--animate", action="store_true", help=animate)
    shared.add(output, *PAPER)
    shared.add(parser.add_argument_group("picture"), *OPTIONS)

    summary = "write all pictures of a derivative and an index page"
    parser = shared.add_command(commands, "export", _export, summary)
    shared.add_drawing(parser, "folder to write", "FOLDER")
    formats = f"some of {listing(FORMATS)} (default: svg)"
    parser.add_argument("--formats", default="svg", metavar="F,F", help=formats)


def _loops(_: argparse.Namespace) -> None:
    for name, loop in loops.items():
        shared.show(f"{name:12}{loop.reason}")


def _draw(options: argparse.Namespace) -> None:
    scale = shared.typed_value(options, SCALE)
    check_scale(scale)
    if options.out != "-":
        picture_path(options.out, options.animate)
    elif options.animate:
        raise ArgumentError("--animate: expected an .svg file in --out, got the screen.")
    scene = _picture(options)
    if options.out == "-":
        shared.show(scene.text(), end="")
    else:
        scene.save(options.out, scale, options.animate)


def _picture(options: argparse.Namespace) -> Scene:
    if number := re.fullmatch(r"figure(\d+)", options.picture):
        return _figure(int(number[1]), options)
    refuse_retired(options.picture, RETIRED_NAMES, "picture {}")
    PICTURES[options.picture]  # raises ArgumentError for an unknown name
    if options.loop is None:
        raise ArgumentError("--loop: missing; pass the name of a gallery loop, or module:function.")
    subject, given, about = shared.drawing_arguments(options)
    about |= shared.typed_options(options, (THEME, *PAPER, *OPTIONS))
    return draw(subject, options.picture, given=given, **about)


def _figure(number: int, options: argparse.Namespace) -> Scene:
    others = [choice for choice in (*DERIVATIVE.values(), *OPTIONS) if choice is not STEPS]
    unused = [choice.option for choice in others if choice.name in options]
    for option in unused if options.loop is None else ["--loop", *unused]:
        raise ArgumentError(f"{option}: not an option of figures. Omit it.")
    return figure(number, **shared.typed_options(options, (THEME, *PAPER, STEPS)))


def _export(options: argparse.Namespace) -> None:
    subject, given, about = shared.drawing_arguments(options)
    about |= shared.typed_options(options, [THEME, SCALE])
    if options.out in ("", "-"):
        raise option_error("--out", options.out, "expected a folder.")
    formats = [name.strip() for name in options.formats.split(",")]
    shared.show(export(subject, options.out, formats, given=given, **about))
