"""Options of several commands, and the loop or graph that the command line names.

Start with `add_drawing`: `visual.options` declares the options, `add` adds them to a parser.
`load` finds a gallery loop or ``module:function``; `load_loop` and `load_graph` check its type.
"""

import argparse
import importlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, LabError, closest_match, first_line, listing, quote, shorten
from lab.gradients.derivative import derivative
from lab.loops.declaration import UNNAMED
from lab.loops.gallery import loops
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.traces.run import Values
from visual.options import AT, DERIVATIVE, ORDER, STEPS, THEME, Choice, Value

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Given = Values | None
Options = dict[str, Value]


def add(parser: argparse._ActionsContainer, *choices: Choice, **otherwise: str | bool) -> None:
    """Add options to a parser; `otherwise` replaces keyword arguments of `add_argument`."""
    for choice in choices:
        parser.add_argument(choice.option, **{**choice.argument, **otherwise})


def add_drawing(
    parser: argparse.ArgumentParser, out: str, metavar: str = "FILE", needs_loop: bool = True
) -> argparse._ArgumentGroup:
    """Add the options of a loop and its derivative, and of the output; return the last group."""
    derivative = parser.add_argument_group("loop and derivative")
    derivative.add_argument(
        "--loop",
        required=needs_loop,
        metavar="NAME",
        help="gallery loop, or module:function that returns a loop, (cost, wrt, given), or a model",
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


def has_default(options: argparse.Namespace, choice: Choice) -> bool:
    """Return whether the command line leaves an option at its default."""
    return getattr(options, choice.name) in (choice.default, [], "")


def derivative_options(options: argparse.Namespace) -> Options:
    """Return the options of a loop's derivative."""
    return {name: choice.parse(getattr(options, name)) for name, choice in DERIVATIVE.items()}


def drawing_arguments(options: argparse.Namespace, subject: Any) -> tuple[Any, Given, Options]:
    """Return the arguments of `draw`: the subject, the values of its inputs, and its options.

    The subject is a loop, a PyMC model, or the derivative of a graph.
    """
    if isinstance(subject, Loop):
        return subject, None, derivative_options(options)
    given, about = None, Options()
    for name, choice in DERIVATIVE.items():
        if not has_default(options, choice):
            value = getattr(options, name)
            about[name] = choice.parse(value) if choice in (AT, STEPS) else value
    if log_density(subject) is None:
        if not isinstance(subject, tuple):
            load_loop(options.loop)  # raises an error that names the type
        cost, wrt, given = load_graph(options.loop, subject)
        subject = derivative(cost, wrt, about.pop(ORDER.name, ORDER.default))
    return subject, given, about


def show(words: object, end: str = "\n") -> None:
    """Print to standard output; raise ArgumentError for a closed or full stream."""
    try:
        print(words, end=end, flush=True)
    except BrokenPipeError:  # `main` ends without an error
        raise
    except (OSError, ValueError) as error:  # ValueError: the stream is closed
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"out = '-': cannot write to standard output: {reason}.") from error


def load_loop(name: str, option: str = "--loop") -> Loop:
    """Return a gallery loop, or the Loop of ``module:function``; errors name the `option`."""
    loop = load(option, name)
    if not isinstance(loop, Loop):
        raise ArgumentError(
            f"{option} {shorten(name)}: expected a lab.Loop, not {quote(loop)} of type "
            f"{type(loop).__name__}."
        )
    return loop


def load_graph(name: str, subject: object = None) -> tuple[Any, Any, Any]:
    """Return ``(cost, wrt, given)`` of a named object or of `subject`; `given` may be None.

    For a loop or a PyMC model, `wrt` is the first variable.
    """
    subject = load("NAME", name) if subject is None else subject
    density = log_density(subject)
    if density is not None:
        return density.cost, density.resolve_wrt()[0], density.given
    if isinstance(subject, Loop):
        graph = subject.build()
        first = next(iter(graph.inputs[v] for v in subject.variables))
        return subject.cost(graph), first, graph.given
    match subject:
        case (Variable() as cost, wrt):
            return cost, wrt, None
        case (Variable() as cost, wrt, None | Mapping() as given):
            return cost, wrt, given
    raise ArgumentError(
        f"{name} = {quote(subject)}: expected (cost, wrt) or (cost, wrt, given), where cost is a "
        "PyTensor variable and given a dictionary with the values of inputs."
    )


def load(option: str, name: str) -> object:
    """Return a gallery loop, or the object that ``module:function`` names or returns."""
    if name in loops:
        return loops[name]
    module, colon, function = name.partition(":")
    if not colon:
        like = closest_match(name, loops)
        hint = f"did you mean {like}?" if like else f"the gallery has {listing(loops)}."
        own = f"{name[:-3]}:FUNCTION" if name.endswith(".py") else "module:function"
        raise ArgumentError(
            f"{option} {shorten(name)}: {hint} For your own loop or graph, write {shorten(own)}."
        )
    sys.path.insert(0, "")
    member: object = None
    try:
        member = getattr(importlib.import_module(module), function)
        result = member() if callable(member) else member
    except (LabError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever the user's module raises
        why = first_line(error)
        if isinstance(error, ModuleNotFoundError):
            why += ". Run the command in the folder of the module."
        elif callable(member):
            why += " The function must not require arguments."
        raise ArgumentError(f"{option} {shorten(name)}: {why}") from error
    if isinstance(result, Loop) and result.name == UNNAMED:
        return replace(result, name=function)
    return result
