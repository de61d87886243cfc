"""The command ``scantape explain``."""

import argparse

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, quoted
from lab.loops.loop import Loop
from lab.reports.explain.explain import explain
from visual.cli.options import Commands, add, add_graph, made_by, show
from visual.drawing.kinds import SCAN
from visual.pages.explanation import save_explanation


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "explain", help="explain the Scans of a graph of your own, and the traps they fall into"
    )
    add_graph(
        parser,
        returns="(cost, wrt)",
        out=".html or .txt",
    )
    add(parser, SCAN, help="only this Scan, on the screen")
    parser.set_defaults(run=_explain)


def _explain(options: argparse.Namespace) -> None:
    explanation = explain(*_graph(options.graph))
    if options.scan is not None:
        if options.scan not in range(1, len(explanation.scans) + 1):
            raise ArgumentError(f"--scan {options.scan}: there are {len(explanation.scans)} Scans.")
        if options.out != "-":
            raise ArgumentError(f"--out {options.out}: a single Scan is shown on the screen.")
    if options.out == "-":
        show(explanation if options.scan is None else explanation.scans[options.scan - 1])
    else:
        show(save_explanation(explanation, options.out, options.theme))


def _graph(name: str) -> tuple[Variable, Variable]:
    """A cost and what to differentiate it by."""
    subject = made_by("NAME", name)
    if isinstance(subject, Loop):
        graph = subject.build()
        return subject.cost(graph), next(iter(graph.inputs[v] for v in subject.variables))
    if not isinstance(subject, tuple) or len(subject) != 2:
        raise ArgumentError(f"{name}: expected (cost, wrt), two variables, not {quoted(subject)}.")
    cost, wrt = subject
    return cost, wrt
