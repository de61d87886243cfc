"""Options of several commands, and the loop or graph that the command line names.

Start with `add_command` and `add_drawing`. `visual.options` declares the options.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import explicit_graph_inputs

from lab import errors
from lab.gradients.derivative import derivative
from lab.loops.declaration import UNNAMED
from lab.loops.gallery import loops
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.traces.run import Values
from visual.options import AT, DERIVATIVE, ORDER, SCALE, STEPS, THEME, Choice, Value, option_error

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run = Callable[[argparse.Namespace], None]
Options = dict[str, Value]
DRAWN = "gallery loop, or module:function that returns a loop, (cost, wrt, given), or a model"
RETURNED = (
    "(cost, wrt) or (cost, wrt, given), where cost is a PyTensor variable and given a dictionary "
    "with the values of inputs"
)


def add_command(
    commands: Commands, name: str, run: Run, summary: str, examples: str | None = None
) -> argparse.ArgumentParser:
    """Add the command `name`, which calls `run` with its options; return its empty parser."""
    parser = commands.add_parser(name, help=summary, epilog=examples)
    parser.set_defaults(run=run)
    return parser


def add(parser: argparse._ActionsContainer, *choices: Choice, **otherwise: str) -> None:
    """Add options to a parser; `otherwise` overrides keyword arguments of `add_argument`."""
    for choice in choices:
        parser.add_argument(choice.option, **{**choice.argument, **otherwise})


def typed_options(options: argparse.Namespace, choices: Iterable[Choice]) -> Options:
    """Return a dictionary from names to values of the `choices` on the command line."""
    return {c.name: c.parse(getattr(options, c.name)) for c in choices if c.name in options}


def typed_value(options: argparse.Namespace, choice: Choice) -> Value:
    """Return the value of an option, or its default if the command line lacks the option."""
    return typed_options(options, [choice]).get(choice.name, choice.default)


def add_drawing(
    parser: argparse.ArgumentParser, out: str, metavar: str = "FILE", needs_loop: bool = True
) -> argparse._ArgumentGroup:
    """Add the option groups *loop and derivative* and *output*; return the group *output*."""
    derivative = parser.add_argument_group("loop and derivative")
    derivative.add_argument("--loop", required=needs_loop, metavar="NAME", help=DRAWN)
    add(derivative, *DERIVATIVE.values())
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--out", required=True, metavar=metavar, help=out)
    add(output, THEME, SCALE)
    return output


def drawing_arguments(options: argparse.Namespace) -> tuple[Any, Values | None, Options]:
    """Return the arguments of `draw`: the subject, the values of its inputs, and its options.

    The subject is the loop, the PyMC model, or the derivative of the graph that ``--loop`` or the
    argument NAME selects. Raises ArgumentError for an input without a value, and for an option that
    a graph does not have.
    """
    option, name = ("NAME", options.graph) if "graph" in options else ("--loop", options.loop)
    subject, about = load(option, name), typed_options(options, DERIVATIVE.values())
    if isinstance(subject, Loop) or log_density(subject) is not None:
        return subject, None, about
    cost, wrt, given = load_graph(option, name, subject)
    order, values = about.pop(ORDER.name, ORDER.default), about.pop(AT.name, {})
    for choice in map(DERIVATIVE.__getitem__, about):
        if choice is not STEPS or isinstance(about[choice.name], int):
            advice = "only for a loop. For a graph, pass --order or --at."
            raise errors.ArgumentError(f"{choice.option}: {advice}")
    subject, given = derivative(cost, wrt, order), dict(given or {})
    inputs = {v.name or str(v): v for v in explicit_graph_inputs([cost])}
    given |= {inputs[errors.check_choice(AT.option, key, inputs)]: values[key] for key in values}
    if missing := [key for key, variable in inputs.items() if variable not in given]:
        advice = f"Use --at {missing[0]}=…, or return (cost, wrt, given)."
        raise errors.ArgumentError(f"{name}: no value for {errors.listing(missing)}. {advice}")
    return subject, given, about


def show(words: object, end: str = "\n") -> None:
    """Print `words` to standard output; raise ArgumentError if the stream is closed or full."""
    try:
        if sys.stdout is None:  # `print` would succeed
            raise ValueError("it is closed")
        print(words, end=end, flush=True)
    except BrokenPipeError:  # `main` then ends without an error
        raise
    except (OSError, ValueError) as error:  # ValueError: the stream is closed
        reason = getattr(error, "strerror", None) or error
        raise errors.ArgumentError(
            f"out = '-': cannot write to standard output: {reason}."
        ) from error


def load_graph(option: str, name: str, subject: Any) -> tuple[Any, Any, Any]:
    """Return ``(cost, wrt, given)`` of a loop or of a tuple; `given` may be None.

    For a loop, `wrt` is the first variable. Raises ArgumentError if `subject`, with the name `name`
    on the command line, is neither a loop nor ``(cost, wrt)`` nor ``(cost, wrt, given)``.
    """
    if isinstance(subject, Loop):
        graph = subject.build()
        return subject.cost(graph), graph.inputs[next(iter(subject.variables))], graph.given
    match subject:
        case (Variable(), [wrt] | wrt) | (Variable(), [wrt] | wrt, None | Mapping()):
            return subject[0], wrt, (*subject, None)[2]
    got = f"{errors.quote(subject)} of type {type(subject).__name__}"
    raise option_error(option, name, f"expected a lab.Loop, a PyMC model, {RETURNED}, got {got}.")


def load(option: str, name: str) -> object:
    """Return a gallery loop, or the object that ``module:function`` names or returns.

    A loop without a name receives the name of the function. Raises ArgumentError, which names the
    `option`, for an unknown name, and for every error of the user's code except LabError.
    """
    if name in loops:
        return loops[name]
    module, colon, function = name.partition(":")
    if not colon:
        like = errors.closest_match(name, loops)
        hint = f"did you mean {like}?" if like else f"the gallery has {errors.listing(loops)}."
        own = f"{name[:-3]}:FUNCTION" if name.endswith(".py") else "module:function"
        advice = f"For your own loop or graph, write {errors.shorten(own)}."
        raise option_error(option, name, f"{hint} {advice}")
    sys.path.insert(0, "")
    member: object = None
    try:
        if module.startswith("."):  # not a relative import, but a path
            raise ModuleNotFoundError(f"No module named {module!r}")
        member = getattr(importlib.import_module(module), function)
        result = member() if callable(member) else member
    except (errors.LabError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the user's module may raise any error
        why = errors.first_line(error)
        if isinstance(error, ModuleNotFoundError):
            why += ". Run the command in the folder of the module."
        elif isinstance(error, TypeError) and getattr(error.__traceback__, "tb_next", 0) is None:
            why += ". The function must not require arguments."
        raise option_error(option, name, why) from error
    if isinstance(result, Loop) and result.name == UNNAMED:
        return replace(result, name=function)
    return result
