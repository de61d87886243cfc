"""What several commands share: options, and what a person names on the command line.

Start with `add_drawing`: whatever can be chosen is declared in `visual.options`, and becomes
options by `add`.  `loop_named` and `made_by` find a gallery loop, or ``module:function``.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, LabError, closest_match, first_line, listing, quote, shorten
from lab.gradients.derivative import derivative
from lab.loops.declaration import UNNAMED
from lab.loops.gallery import loops
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.reports.tables import Report
from lab.traces.run import Values
from visual.options import AT, DERIVATIVE, ORDER, STEPS, THEME, Choice, Value
from visual.pages.reports import save_report as to_file
from visual.scene.formats import check_path, check_scale
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(parser: argparse._ActionsContainer, *choices: Choice, **otherwise: str | bool) -> None:
    """Options for what can be chosen; `otherwise` says what the command says in other words."""
    for choice in choices:
        parser.add_argument(choice.option, **{**choice.argument, **otherwise})


def add_graph(
    commands: Commands, name: str, told: str, returns: str, out: str, run: Callable[..., None]
) -> argparse.ArgumentParser:
    """A command about a graph of a person's own, which a function `returns`; `out` is its file."""
    parser = commands.add_parser(name, help=told)
    parser.add_argument(
        "graph",
        metavar="NAME",
        help=f"module:function, without arguments, that returns {returns}; or a gallery loop",
    )
    parser.add_argument(
        "-o", "--out", default="-", metavar="FILE", help=f"{out}; - is the screen (-)"
    )
    add(parser, THEME)
    parser.set_defaults(run=run)
    return parser


def add_drawing(
    parser: argparse.ArgumentParser, out: str, metavar: str = "FILE", needs_loop: bool = True
) -> argparse._ArgumentGroup:
    """Add the options of a loop and its derivative, and of the output; return the last group."""
    derivative = parser.add_argument_group("loop and derivative")
    derivative.add_argument(
        "--loop",
        required=needs_loop,
        metavar="NAME",
        help="gallery loop, or module:function of a loop, a graph, or a PyMC model",
    )
    add(derivative, *DERIVATIVE.values())
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--out", required=True, metavar=metavar, help=out)
    add(output, THEME)
    output.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="S",
        help="scale of a .png or .gif; 3.125 is 300 dpi (default: 1)",
    )
    return output


def chosen(options: argparse.Namespace, loop: Loop) -> dict[str, Value]:
    """What was said about the loop's derivative."""
    return {name: choice.read(getattr(options, name), loop) for name, choice in DERIVATIVE.items()}


def posed(options: argparse.Namespace, subject: Any) -> tuple[Any, Values | None, dict[str, Any]]:
    """What is drawn of a `subject`, the values of its inputs, and what was said about it.

    It is a loop or a PyMC model as it is, or a graph's derivative, which a function returned.
    """
    if isinstance(subject, Loop):
        return subject, None, chosen(options, subject)
    given, about = None, dict[str, Any]()
    for name, choice in DERIVATIVE.items():
        if (value := getattr(options, name)) not in (choice.default, []):
            about[name] = choice.read(value, subject) if choice in (AT, STEPS) else value
    if log_density(subject) is None:
        if not isinstance(subject, tuple):
            loop_named(options.loop)  # which says what is no loop
        cost, wrt, given = graph_of(options.loop, subject)
        subject = derivative(cost, wrt, about.pop(ORDER.name, ORDER.default))
    return subject, given, about


def check_drawing(options: argparse.Namespace, animate: bool = False) -> None:
    """Raise ArgumentError, before anything is computed, for a picture that cannot be written."""
    THEMES[options.theme]
    check_scale(options.scale)
    if options.out != "-":
        check_path(Path(options.out), animate)
    elif animate:
        raise ArgumentError("--animate: text on the screen does not move; expected an .svg.")


def show(words: object, end: str = "\n") -> None:
    """Print on the screen, or where it leads to."""
    try:
        print(words, end=end, flush=True)
    except BrokenPipeError:  # the reader has seen enough
        raise
    except (OSError, ValueError) as error:  # ValueError: somebody has closed it
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"out = '-': the screen cannot be written: {reason}.") from error


def save_report(report: Report, options: argparse.Namespace) -> None:
    """Print a report, or save it and print the path."""
    THEMES[options.theme]
    show(report if options.out == "-" else to_file(report, options.out, options.theme))


def write(picture: Scene, options: argparse.Namespace, animate: bool = False) -> None:
    """Print a picture as text, or save it."""
    if options.out == "-":
        show(picture.text(), end="")
    else:
        picture.save(options.out, options.scale, animate)


def loop_named(name: str, option: str = "--loop") -> Loop:
    """A gallery loop, or what ``module:function`` names; the `option` is quoted in errors."""
    loop = made_by(option, name)
    if not isinstance(loop, Loop):
        raise ArgumentError(
            f"{option} {shorten(name)}: expected a lab.Loop, not {quote(loop)}, a "
            f"{type(loop).__name__}."
        )
    return loop


def graph_of(name: str, subject: object = None) -> tuple[Any, Any, Any]:
    """``(cost, wrt, given)`` of what a function, or `subject`, is or returns; `given` may be None.

    A loop, and a PyMC model, is differentiated by the first variable.
    """
    subject = made_by("NAME", name) if subject is None else subject
    density = log_density(subject)
    if density is not None:
        return density.cost, density.resolve_wrt()[0], density.given
    if isinstance(subject, Loop):
        graph = subject.build()
        by = next(iter(graph.inputs[v] for v in subject.variables))
        return subject.cost(graph), by, graph.given
    match subject:
        case (Variable() as cost, wrt):
            return cost, wrt, None
        case (Variable() as cost, wrt, None | Mapping() as given):
            return cost, wrt, given
    raise ArgumentError(
        f"{name} = {quote(subject)}: expected (cost, wrt) or (cost, wrt, given), with a cost that "
        "is a variable of PyTensor, and values of inputs in a dictionary."
    )


def made_by(option: str, name: str) -> object:
    """A gallery loop, or what ``module:function`` names or returns."""
    if name in loops:
        return loops[name]
    module, colon, function = name.partition(":")
    if not colon:
        like = closest_match(name, loops)
        told = f"did you mean {like}?" if like else f"the gallery has {listing(loops)}."
        raise ArgumentError(
            f"{option} {shorten(name)}: {told} For your own, write module:function."
        )
    sys.path.insert(0, "")
    try:
        named = getattr(importlib.import_module(module), function)
        made = named() if callable(named) else named
    except (LabError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever the user's module raises
        raise ArgumentError(f"{option} {shorten(name)}: {first_line(error)}") from error
    is_unnamed = isinstance(made, Loop) and made.name == UNNAMED
    return replace(made, name=function) if is_unnamed else made
