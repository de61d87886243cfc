"""The commands that report on a graph: ``explain``, ``compare``, ``compiled``, and ``why``."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pytensor.graph.basic import Variable

from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.reports.compare.compare import compare
from lab.reports.compare.comparison import Comparison
from lab.reports.compile.compile import compiled
from lab.reports.explain.explain import explain
from lab.reports.explain.explanation import Explanation, ScanReport
from lab.reports.runs.first import first
from lab.reports.tables import Report, Section
from lab.traces.trace import Trace
from visual.backends.page import save_report
from visual.cli import shared
from visual.drawing.catalogue import SCAN
from visual.drawing.study import study_of
from visual.options import DERIVATIVE, ORDER, STEPS, THEME, WRT, option_error, words

Item = TypeVar("Item")
MANY_STEPS = 20_000  # for a loop with more steps, a trace would need too much memory


def add_commands(commands: shared.Commands) -> None:
    """Add the commands to the parser."""
    summary = "describe the Scans in a graph, the gradient of its cost, and known traps"
    returns = "(cost, wrt), (cost, wrt, given), or a PyMC model"
    parser = _add_report(commands, "explain", summary, returns, _explain)
    shared.add(parser, SCAN, help="describe only this Scan (default: all)")
    shared.add(parser, WRT, help="variables, such as rho,sigma (PyMC models only; default: all)")
    details = "add ids of pytensor.dprint, and lines of code"
    parser.add_argument("--details", action="store_true", help=details)

    summary = "compare Scantape's pullback of a Scan with PyTensor's own"
    returns = "(cost, wrt), (cost, wrt, given), or a lab.Loop"
    parser = _add_report(commands, "compare", summary, returns, _compare)
    shared.add(parser, ORDER, help="highest order to compare (default: 1)")

    summary = "show the Scans, rewrites, and buffers of a compiled function"
    returns = (
        "a variable, a list of variables, (cost, wrt), (cost, wrt, given), or a compiled function"
    )
    parser = _add_report(commands, "compiled", summary, returns, _compiled)
    shared.add(parser, WRT, help="include the gradient wrt this variable (loops only)")
    parser.add_argument("--mode", metavar="MODE", help="compilation mode, such as CVM or NUMBA")
    shared.add(parser, SCAN, help="show only this Scan (default: all)")

    summary = "find the first nan or other value of a run, and its causes"
    parser = shared.add_command(commands, "why", _why, summary)
    given = "; given has the values of inputs, which --at can set as well"
    parser.add_argument("graph", metavar="NAME", help=shared.DRAWN + given)
    value = "nan, inf, '>1e6' for a larger magnitude, or =2 for this number (default: nan)"
    parser.add_argument("--value", default="nan", metavar="VALUE", help=value)
    shared.add(parser, *(choice for choice in DERIVATIVE.values() if choice is not STEPS))
    shared.add(parser, STEPS, help="number of steps")


def _add_report(
    commands: shared.Commands,
    name: str,
    summary: str,
    returns: str,
    report: Callable[[argparse.Namespace], Report],
) -> argparse.ArgumentParser:
    """Add a command that shows or saves the result of `report`; return its parser."""

    def run(options: argparse.Namespace) -> None:
        theme = THEME.check(shared.typed_value(options, THEME))
        result = report(options)
        shared.show(result if options.out == "-" else save_report(result, options.out, theme))

    parser = shared.add_command(commands, name, run, summary)
    graph = f"module:function, without arguments, that returns {returns}; or a gallery loop"
    parser.add_argument("graph", metavar="NAME", help=graph)
    out = "file to write (.html, .txt), or - for text on the screen (default: -)"
    parser.add_argument("-o", "--out", default="-", metavar="FILE", help=out)
    shared.add(parser, THEME)
    return parser


def _select_scan(options: argparse.Namespace, scans: Sequence[Item]) -> Item | None:
    """Return the entry of `scans` with the number in ``--scan``, or None without this option."""
    number = shared.typed_value(options, SCAN)
    if number is None or number in range(1, len(scans) + 1):
        return scans[number - 1] if number else None
    several = f"expected 1 to {len(scans)}" if len(scans) > 1 else "expected 1; there is one Scan"
    expected = several if scans else "the graph contains no Scan"
    raise option_error("--scan", str(number), f"{expected}.")


def _explain(options: argparse.Namespace) -> Report:
    subject, wrt = shared.load("NAME", options.graph), shared.typed_value(options, WRT)
    if log_density(subject) is not None:
        explanation = explain(subject, words(wrt) or None)
    elif wrt is None:
        explanation = explain(*shared.load_graph("NAME", options.graph, subject)[:2])
    else:
        raise option_error("--wrt", wrt, "only for a PyMC model. For a graph, return (cost, wrt).")
    report: Explanation | ScanReport = _select_scan(options, explanation.scans) or explanation
    if not options.details:
        return report
    document = report.document
    return Section(document.title, (*document.blocks, explanation.details))


def _compare(options: argparse.Namespace) -> Comparison:
    subject, order = shared.load("NAME", options.graph), shared.typed_value(options, ORDER)
    if isinstance(subject, Loop):
        return compare(subject, order=order)
    return compare(*shared.load_graph("NAME", options.graph, subject), order=order)


def _compiled(options: argparse.Namespace) -> Report:
    subject, wrt = shared.load("NAME", options.graph), shared.typed_value(options, WRT)
    if wrt is not None and not isinstance(subject, Loop):
        advice = "this option is only for loops. For a graph, return (cost, wrt) from the function."
        raise option_error("--wrt", wrt, advice)
    given = None
    match subject:
        case (Variable(), Variable()) | (Variable(), Variable(), None | Mapping()):
            subject, wrt, given = (*subject, None)[:3]
    report = compiled(subject, wrt, options.mode, given)  # type: ignore[arg-type]  # checked by `compiled`
    return _select_scan(options, report.after) or report


def _why(options: argparse.Namespace) -> None:
    subject, given, about = shared.drawing_arguments(options)
    study = study_of(subject, given, **about)
    is_long = isinstance(subject, Loop) and about.get(STEPS.name, subject.steps) > MANY_STEPS
    run = study.derivative if is_long else study.trace
    origin = first(run, options.value)
    scans = run.scans if isinstance(run, Trace) else ()
    steps = f"{sum(scan.steps for scan in scans):,} steps of {len(scans):,} Scans"
    where = steps if scans else "any step"
    shared.show(f"{options.value}: not found in {where}." if origin is None else origin)
