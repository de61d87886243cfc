"""The command ``scantape why``."""

import argparse

from lab.gradients.derivative import Derivative
from lab.loops.loop import Loop
from lab.reports.runs.first import first
from lab.traces.trace import Trace
from visual.cli.shared import Commands, add, drawing_arguments, show
from visual.drawing.draw import study_of
from visual.options import DERIVATIVE, STEPS

MANY_STEPS = 20_000  # PyTensor runs longer loops, because their traces would need too much memory


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "why", help="find the first nan or other value of a run, and its causes"
    )
    parser.add_argument(
        "graph",
        metavar="NAME",
        help="gallery loop, or module:function that returns a loop, (cost, wrt, given), or a "
        "model; given has the values of inputs, which --at can set as well",
    )
    parser.add_argument(
        "--value",
        default="nan",
        metavar="VALUE",
        help="nan, inf, '>1e6' for a larger magnitude, or =2 for this number (default: nan)",
    )
    add(parser, *(choice for choice in DERIVATIVE.values() if choice is not STEPS))
    add(parser, STEPS, help="number of steps")
    parser.set_defaults(run=_why)


def _why(options: argparse.Namespace) -> None:
    run = _run(options)
    origin = first(run, options.value)
    where = "any step"
    if isinstance(run, Trace):
        steps = sum(scan.steps for scan in run.scans)
        where = f"{steps:,} steps of {len(run.scans):,} Scans"
    show(f"{options.value}: not found in {where}." if origin is None else origin)


def _run(options: argparse.Namespace) -> Trace | Derivative:
    """Return the trace of the derivative, or the derivative itself for a loop with many steps."""
    subject, given, about = drawing_arguments(options, options.graph, "NAME")
    study = study_of(subject, given, about)
    is_long = isinstance(subject, Loop) and about.get(STEPS.name, subject.steps) > MANY_STEPS
    return study.derivative if is_long else study.trace
