"""What several commands let a person choose: options of the command line, and what they mean.

What a person names on the command line: a gallery loop, or ``module:function`` of their own.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError, first_line, listing
from lab.loops.gallery import loops
from lab.loops.loop import Loop
from visual.drawing.kinds import Picture
from visual.scene.formats import check_path, check_scale
from visual.scene.theme import theme_named


def add_theme(parser: argparse.ArgumentParser) -> None:
    """The colours of a picture."""
    parser.add_argument("--theme", default="light", metavar="NAME", help="light, dark or print")


def add_graph(parser: argparse.ArgumentParser, returns: str, out: str) -> None:
    """A graph of a person's own, which a function `returns`, and where the result goes."""
    parser.add_argument(
        "graph",
        metavar="NAME",
        help=f"module:function, without arguments, that returns {returns}; or a gallery loop",
    )
    parser.add_argument(
        "-o", "--out", default="-", metavar="FILE", help=f"{out}; - is the screen (-)"
    )
    add_theme(parser)


def add_choices(parser: argparse.ArgumentParser) -> None:
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
    add_theme(parser)
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="scale of a PNG (1)")


def chosen(options: argparse.Namespace, loop: Loop) -> dict[str, Any]:
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
    name, colon, taps = text.rpartition(":")
    if not colon:
        if not loop.states:
            raise ArgumentError(
                f"--taps {text}: this loop has no state; name a sequence, as u:0,1."
            )
        name = loop.states[0].name
    return name, numbers(f"--taps {text}", taps)


def numbers(option: str, text: str) -> tuple[int, ...]:
    """``-2,-1`` as numbers; the `option` is quoted in errors."""
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


def check_drawing(options: argparse.Namespace) -> None:
    """Raise ArgumentError, before anything is computed, for a picture that cannot be written."""
    theme_named(options.theme)
    check_scale(options.scale)
    if options.out != "-":
        check_path(Path(options.out))


def write(picture: Picture, options: argparse.Namespace) -> None:
    """Print a picture as text, or save it."""
    if options.out == "-":
        print(picture.text(), end="")
    else:
        picture.save(options.out, options.scale)


def loop_named(name: str, option: str = "--loop") -> Loop:
    """A gallery loop, or what ``module:function`` names; the `option` is quoted in errors."""
    loop = made_by(option, name)
    if not isinstance(loop, Loop):
        raise ArgumentError(f"{option} {name}: expected a lab.Loop, not {type(loop).__name__}.")
    return loop


def made_by(option: str, name: str) -> Any:
    """A gallery loop, or what ``module:function`` names or returns."""
    if name in loops:
        return loops[name]
    module, colon, function = name.partition(":")
    if not colon:
        raise ArgumentError(
            f"{option} {name}: the gallery has {listing(loops)}; for your own, write "
            "module:function."
        )
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), function)
        return found() if callable(found) else found
    except LabError:
        raise
    except Exception as error:  # whatever a person's own module does
        raise ArgumentError(f"{option} {name}: {first_line(error)}") from error
