"""The command ``scantape``: list the gallery, draw and export a loop's derivative."""

import argparse
import gc
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.breaking import BROKEN, broken_rule
from lab.errors import ArgumentError, LabError, listing, printable
from lab.gallery import loops
from lab.loop import Loop
from visual.atlas_command import add_page
from visual.compare_command import add_compare
from visual.compiled_command import add_compiled
from visual.drawing import draw, studied
from visual.explain_command import add_explain
from visual.exporting import FORMATS, export
from visual.figures import figure
from visual.files import SUFFIXES, check_path, check_scale
from visual.loading import loop_named
from visual.pictures import PICTURES, Picture, picture_named
from visual.study import choose
from visual.theme import theme_named

EXAMPLES = """\
examples:
  scantape loops                                         what there is to draw, and why
  scantape draw tapes --loop square -o tape.svg          the tape of x**2, four times
  scantape draw tapes --loop square -o - --order 2       the second derivative, as text
  scantape draw tapes --loop square --taps=-2,-1 -o tape.svg
  scantape draw tapes --loop coupled --wrt birth --cost sum -o total.svg
  scantape draw unrolled --loop square --order 2 -o loops.pdf
  scantape draw unrolled --figure 4 -o figure4.png --scale 3
  scantape draw tapes --loop mymodule:myloop --at x=0.5 -o mine.svg
  scantape explain mymodule:mygraph -o mine.html         your own (cost, wrt), and its traps
  scantape compare mymodule:mygraph --order 2 -o report.py
  scantape compiled gap --mode CVM -o gap.html           what its buffer holds when compiled
  scantape export --loop rnn --wrt W --formats svg,pdf -o pictures
  scantape break --loop square --rule accumulate-overwritten --order 3 -o broken.svg
  scantape page --out lesson.html                        many loops to choose from, without Python

A loop of your own is a lab.Loop, or a function without arguments that returns one.
"""


def command() -> None:
    """Run the command and end the process, which is short: it collects no garbage."""
    gc.disable()
    status = main()
    gc.freeze()
    sys.exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 2 if something was asked that cannot be."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return 0
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # it needs the message only
    try:
        options.run(options)
    except LabError as error:
        print(*map(printable, f"scantape: {error}".splitlines()), sep="\n", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("scantape: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output, head for one, has seen enough
        sys.stderr.close()
        return 0
    return 0


def _show_warning(message: Warning | str, *_: Any) -> None:
    print(f"scantape: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scantape",
        description="See the tapes of PyTensor's Scan gradients.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    loops = commands.add_parser("loops", help="list the gallery, with the reason for each loop")
    loops.add_argument("--names", action="store_true", help="only the names, one a line")
    loops.set_defaults(run=_loops)

    draw = commands.add_parser(
        "draw",
        help="draw one picture of a loop's derivative",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    draw.add_argument("picture", metavar="PICTURE", help=f"{listing(PICTURES)}")
    draw.add_argument("--loop", metavar="NAME", help="a gallery loop, or module:function")
    draw.add_argument(
        "--figure",
        type=int,
        metavar="N",
        help="instead of a loop: figure 1 to 8 of the square loop, unrolled",
    )
    draw.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="FILE",
        help=f"where to write: {listing(SUFFIXES)} tells the format; - is text on the screen",
    )
    _add_choices(draw)
    options = draw.add_argument_group("options of some pictures")
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
    draw.set_defaults(run=_draw)

    add_explain(commands)
    add_page(commands)
    add_compare(commands)
    add_compiled(commands)

    export = commands.add_parser("export", help="write all pictures, with an index page")
    export.add_argument(
        "--loop", required=True, metavar="NAME", help="a gallery loop, or module:function"
    )
    export.add_argument("-o", "--out", required=True, metavar="FOLDER", help="where to write")
    export.add_argument(
        "--formats", default="svg", metavar="F,F", help=f"some of {listing(FORMATS)} (svg)"
    )
    _add_choices(export)
    export.set_defaults(run=_export)

    breaks = commands.add_parser("break", help="break a rule of the derivative: where it shows")
    breaks.add_argument(
        "--loop", required=True, metavar="NAME", help="a gallery loop, or module:function"
    )
    breaks.add_argument("--rule", required=True, metavar="RULE", help=listing(BROKEN))
    breaks.add_argument(
        "-o", "--out", required=True, metavar="FILE", help=f"{listing(SUFFIXES)}; - is text"
    )
    _add_choices(breaks)
    breaks.set_defaults(run=_break)
    return parser


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """What can be said about a loop's derivative, and how it is drawn."""
    parser.add_argument(
        "--taps",
        action="append",
        default=[],
        metavar="TAPS",
        help="taps of the first state (-2,-1), or of a named one (x:-2,-1)",
    )
    parser.add_argument("--order", type=int, default=1, metavar="N", help="derivative order (1)")
    parser.add_argument("--wrt", metavar="NAME", help="differentiate by this (the first state)")
    parser.add_argument("--of", metavar="NAME", help="the state or output that the cost is made of")
    parser.add_argument("--steps", type=int, metavar="N", help="number of steps")
    parser.add_argument(
        "--cost",
        default="last",
        metavar="COST",
        help="last, sum, or one weight for each step: 0,0,1,0.5",
    )
    parser.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a value for a variable: x=0.95, or a list: x=[1,2]",
    )
    parser.add_argument("--theme", default="light", metavar="NAME", help="light, dark or print")
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="scale of a PNG (1)")


def _loops(options: argparse.Namespace) -> None:
    for name, loop in loops.items():
        print(name if options.names else f"{name:12}{loop.reason}")


def _draw(options: argparse.Namespace) -> None:
    picture_named(options.picture)
    theme_named(options.theme)
    check_scale(options.scale)
    if options.out != "-":
        check_path(Path(options.out))
    _write(_picture(options), options)


def _write(scene: Picture, options: argparse.Namespace) -> None:
    if options.out == "-":
        print(scene.text(), end="")
    else:
        scene.save(options.out, options.scale)


def _picture(options: argparse.Namespace) -> Picture:
    if options.figure is not None:
        if options.picture != "unrolled" or options.loop is not None:
            raise ArgumentError("--figure: the figures are unrolled, and choose their own loop.")
        return figure(options.figure, options.theme)
    if options.loop is None:
        raise ArgumentError("--loop: name a loop, or for unrolled a --figure from 1 to 8.")
    names = ("around", "step", "scan", "buffer", "contributions", "all_direct")
    asked = {name: getattr(options, name) for name in names}
    asked["scans"] = _numbers("--scans", options.scans) if options.scans else None
    own = {name: value for name, value in asked.items() if value is not None and value is not False}
    loop = loop_named(options.loop)
    return draw(loop, options.picture, options.theme, **own, **_chosen(options, loop))


def _export(options: argparse.Namespace) -> None:
    loop = loop_named(options.loop)
    formats = [name.strip() for name in options.formats.split(",")]
    chosen = _chosen(options, loop)
    print(export(loop, options.out, formats, options.theme, options.scale, **chosen))


def _break(options: argparse.Namespace) -> None:
    from lab.breakage import Truth  # what only this command needs
    from visual.breaking import breaking

    rule, loop = broken_rule(options.rule), loop_named(options.loop)
    theme_named(options.theme)
    check_scale(options.scale)
    if options.out != "-":
        check_path(Path(options.out))
    found = studied(loop, choose(**_chosen(options, loop)))
    breakage = Truth(found.derivative, found.given).broken_by(rule)
    _write(breaking(breakage, options.theme), options)


def _chosen(options: argparse.Namespace, loop: Loop) -> dict[str, Any]:
    """What was said about the loop's derivative."""
    return {
        "taps": dict(_taps(text, loop) for text in options.taps),
        "steps": options.steps,
        "order": options.order,
        "wrt": options.wrt,
        "cost": _cost(options.cost),
        "of": options.of,
        "at": dict(map(_value, options.at)),
    }


def _taps(text: str, loop: Any) -> tuple[str, tuple[int, ...]]:
    """``-2,-1`` or ``x:-2,-1`` as a name and taps."""
    name, colon, numbers = text.rpartition(":")
    if not colon:
        if not loop.states:
            raise ArgumentError(
                f"--taps {text}: this loop has no state; name a sequence, as u:0,1."
            )
        name = loop.states[0].name
    return name, _numbers(f"--taps {text}", numbers)


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(",") if number.strip())
    except ValueError as error:
        raise ArgumentError(f"{option}: expected whole numbers, as in -2,-1.") from error


def _cost(text: str) -> Any:
    if text in ("last", "sum"):
        return text
    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        raise ArgumentError(
            f"--cost {text}: expected last, sum, or a weight for each step, as in 0,0,1,0.5."
        ) from error


def _value(text: str) -> tuple[str, Any]:
    """``x=0.95`` or ``x=[1,2]`` as a name and a value."""
    name, equals, value = text.partition("=")
    try:
        if not equals:
            raise ValueError
        return name.strip(), json.loads(value)
    except ValueError as error:
        raise ArgumentError(f"--at {text}: expected NAME=NUMBER or NAME=[NUMBER,…].") from error


if __name__ == "__main__":
    command()
