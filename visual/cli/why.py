"""The command ``scantape why``."""

import argparse

from pytensor.graph.traversal import explicit_graph_inputs

from lab.errors import ArgumentError, check_choice, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.loop import Loop
from lab.reports.runs.first import first
from lab.traces.trace import Trace
from lab.traces.tracing import trace
from visual.cli.shared import Commands, add, chosen, graph_of, made_by, show
from visual.drawing.draw import cached_study
from visual.drawing.study import choose
from visual.options import AT, DERIVATIVE

MANY_STEPS = 20_000  # of which more are run by PyTensor


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "why", help="find the first nan or other value of a run, and its causes"
    )
    parser.add_argument(
        "graph",
        metavar="NAME",
        help="module:function that returns (cost, wrt, given), where given has the values of the "
        "graph's inputs, which --at has as well, or a lab.Loop; or a gallery loop",
    )
    parser.add_argument(
        "--value",
        default="nan",
        metavar="VALUE",
        help="nan, inf, '>1e6' for what is larger in size, or =2 for exactly that number (nan)",
    )
    add(parser, *DERIVATIVE.values())
    parser.set_defaults(run=_why)


def _why(options: argparse.Namespace) -> None:
    run = _run(options)
    found = first(run, options.value)
    where = "all that the steps write"
    if isinstance(run, Trace):
        steps = sum(scan.steps for scan in run.scans)
        where = f"{steps:,} steps of {len(run.scans):,} Scans"
    show(f"{options.value}: no value is, in {where}." if found is None else found)


def _run(options: argparse.Namespace) -> Trace | Derivative:
    """The run of the derivative that is meant, or of many steps the derivative itself."""
    subject = made_by("NAME", options.graph)
    if isinstance(subject, Loop):
        chose = choose(**chosen(options, subject))
        study, steps = cached_study(subject, chose), chose.steps or subject.steps
        return study.trace if steps <= MANY_STEPS else study.derivative
    cost, wrt, given = graph_of(options.graph)
    said = [
        choice.option
        for name, choice in DERIVATIVE.items()
        if name not in ("order", "at") and getattr(options, name) not in (choice.default, [])
    ]
    if said:
        raise ArgumentError(
            f"{listing(said)}: chosen of a loop; of (cost, wrt) only --order and --at are."
        )
    inputs = {
        variable.name or str(variable): variable for variable in explicit_graph_inputs([cost])
    }
    named = AT.values(options.at)
    values = {inputs[check_choice("--at", name, inputs)]: value for name, value in named.items()}
    missing = [name for name, v in inputs.items() if v not in {**(given or {}), **values}]
    if missing:
        raise ArgumentError(
            f"{options.graph}: of (cost, wrt) there is no value for {listing(missing)}; give one "
            f"with --at {missing[0]}=…, or return (cost, wrt, given)."
        )
    return trace(derivative(cost, wrt, options.order), {**(given or {}), **values})
