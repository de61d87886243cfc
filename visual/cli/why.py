"""The command ``scantape why``."""

import argparse

from pytensor.graph.traversal import explicit_graph_inputs

from lab.errors import ArgumentError, check_choice, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.loop import Loop
from lab.reports.runs.first import first
from lab.traces.trace import Trace
from lab.traces.tracing import trace
from visual.cli.shared import Commands, add, derivative_options, has_default, load, load_graph, show
from visual.drawing.draw import cached_study
from visual.drawing.study import choose
from visual.options import AT, DERIVATIVE, ORDER, STEPS

MANY_STEPS = 20_000  # PyTensor runs longer loops, because a trace would need too much memory


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "why", help="find the first nan or other value of a run, and its causes"
    )
    parser.add_argument(
        "graph",
        metavar="NAME",
        help="gallery loop, or module:function that returns a lab.Loop or (cost, wrt, given); "
        "given has the values of inputs, which --at can set as well",
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
    """Return the trace of the derivative, or the derivative of a loop with many steps."""
    subject = load("NAME", options.graph)
    if isinstance(subject, Loop):
        choice = choose(**derivative_options(options))
        study, steps = cached_study(subject, choice), choice.steps or subject.steps
        return study.trace if steps <= MANY_STEPS else study.derivative
    cost, wrt, given = load_graph(options.graph)
    given_options = [
        choice.option
        for choice in DERIVATIVE.values()
        if choice not in (ORDER, AT) and not has_default(options, choice)
    ]
    if given_options:
        raise ArgumentError(
            f"{listing(given_options)}: only for loops; for a graph, expected --order or --at."
        )
    inputs = {
        variable.name or str(variable): variable for variable in explicit_graph_inputs([cost])
    }
    named = AT.parse(options.at)
    values = {inputs[check_choice("--at", name, inputs)]: value for name, value in named.items()}
    missing = [name for name, v in inputs.items() if v not in {**(given or {}), **values}]
    if missing:
        raise ArgumentError(
            f"{options.graph}: no value for {listing(missing)}. Use --at {missing[0]}=…, or return "
            "(cost, wrt, given)."
        )
    return trace(derivative(cost, wrt, options.order), {**(given or {}), **values})
