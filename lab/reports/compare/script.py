"""A comparison as a script with pytensor and numpy alone, for a maintainer to run.

The script is `lab.reports.compare.against_differences` as it stands, and the graph to run it
on: a declared loop as a call of ``pytensor.scan``, any other graph operation by operation.  Where
that cannot be done, the function that makes it is imported; and where there is none, the inner
graph is shown with the numbers that were found.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files

import numpy as np
import pytensor
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import explicit_graph_inputs, graph_inputs

from lab.errors import LabError, printable
from lab.loops.scan_call import ScanCall, traced_step
from lab.reports.compare.as_python import IMPORTS, CannotWriteError, PythonWriter, array
from lab.reports.compare.comparison import Comparison, summary, value_text
from lab.reports.compare.subject import Subject
from lab.reports.explain.explain import explain

HEAD = """\
# {title}
# Written for PyTensor {version}; this needs pytensor and numpy alone.
# It prints PyTensor's gradient beside finite differences of the cost, of which derivative k + 1
# is that of the sum of all entries of derivative k.  The exit status is 1 if they differ.
"""
UNCOMPILED = """\
import os

os.environ.setdefault("PYTENSOR_FLAGS", "cxx=")  # nothing is compiled, which is enough here
"""
CHECK = files("lab.reports.compare").joinpath("against_differences.py")
MOST_LINES = 40  # that tell where Scans stand
TAKEN = ("Check", "MODE", "given", "wrt", "cost", "step", "results")


def script(comparison: Comparison, subject: Subject) -> str:
    """The script of a comparison of the graph in `subject`; see `Comparison.report`."""
    title = harmless(summary(comparison))
    head = HEAD.format(title=title, version=comparison.version)
    try:
        graph = "\n".join(_graph(subject))
    except CannotWriteError as error:
        return "\n".join([head, *_shown(comparison, subject, str(error)), ""])
    last = comparison.visible or max((row.order for row in comparison.rows), default=1)
    rows = [row for row in comparison.rows if row.order <= last]
    worth = [row for row in rows if row.is_found] or [row for row in rows if row.order == last]
    asked = [(subject.names.index(row.wrt), row.order) for row in worth]
    summed = [list(places) for places in comparison.summed]
    run = (
        "# The inputs whose gradients are summed up after each order, and what is looked at.\n"
        f"check = Check(cost, given, wrt, {summed!r}, truncated={comparison.truncated})\n"
        f"sys.exit(check.run({asked!r}))\n"
    )
    head = "\n".join([head.rstrip("\n"), *_stands(subject), ""])
    return "\n".join([head, UNCOMPILED, CHECK.read_text("utf-8"), IMPORTS, graph, "", run])


def _graph(subject: Subject) -> list[str]:
    """The lines that make the graph, or import what makes it."""
    try:
        return list(_written(subject))
    except CannotWriteError as error:
        if subject.origin is None:
            raise
        return list(_imported(subject, subject.origin, str(error)))


def _stands(subject: Subject) -> Iterator[str]:
    """Where the Scans stand in PyTensor's print of the cost and of its gradient, as comments.

    A declared loop is written as a call of ``pytensor.scan``, whose print has ids of its own.
    """
    if subject.declared is not None:
        return
    try:
        explained = explain(subject.cost, subject.wrt[0])
    except LabError:  # there is a comparison all the same, of what PyTensor alone says
        return
    stands = [line for scan in explained.scans for stand in scan.stands for line in stand.told]
    if stands:
        yield "#"
        yield "# Where the Scans stand:"
    for line in stands[:MOST_LINES]:
        told = harmless(line).replace("·", "-").encode("ascii", "backslashreplace")
        yield f"#   {told.decode('ascii')}"
    if len(stands) > MOST_LINES:
        yield f"#   and {len(stands) - MOST_LINES} lines more, which lab.explain prints"


def harmless(words: str) -> str:
    """A text for a comment: on one line, and of characters that do nothing."""
    return printable(" ".join(words.split()))


def _written(subject: Subject) -> Iterator[str]:
    """The lines that build the graph."""
    writer = PythonWriter(TAKEN)
    if subject.call is not None:
        yield from _call(subject, subject.call, writer)
    else:
        for variable in subject.wrt:
            if variable.owner is not None:
                raise CannotWriteError(f"{variable}: a gradient is asked for by what is computed.")
        inputs = [v for v in graph_inputs([subject.cost]) if not isinstance(v, Constant)]
        for variable in dict.fromkeys((*subject.given, *inputs)):
            if isinstance(variable, SharedVariable) and variable not in subject.given:
                raise CannotWriteError(f"{variable}: a shared variable is not written.")
            if variable.owner is not None:
                raise CannotWriteError(f"{variable}: a value is given for what is computed.")
            if variable in inputs:
                writer.declare(variable)
        writer.write([subject.cost])
        yield from writer.lines
        yield f"cost = {writer.use(subject.cost)}"
    yield from _values({writer.names[v]: v for v in subject.given if v in writer.names}, subject)
    yield f"wrt = [{', '.join(writer.use(v) for v in subject.wrt)}]"


def _values(inputs: Mapping[str, Variable], subject: Subject) -> Iterator[str]:
    """The values of inputs, by what these are called in the script."""
    yield "given = {"
    for name, variable in inputs.items():
        value = subject.given[variable]
        if isinstance(value, np.random.Generator):
            raise CannotWriteError(f"{variable}: a generator is not written.")
        yield f"    {name}: {array(np.asarray(value).astype(variable.type.dtype))},"
    yield "}"


def _call(subject: Subject, call: ScanCall, writer: PythonWriter) -> Iterator[str]:
    """A declared loop: its inputs, its step, and the call."""
    for variable in call.inputs.values():
        writer.declare(variable)
    yield from writer.lines
    yield from ("", "")
    yield from _step(call, PythonWriter(writer.used))
    yield from ("", "")
    arguments = call.arguments
    sequences = [
        f"dict(input={writer.names[s['input']]}, taps={s['taps']!r})"
        for s in arguments["sequences"]
    ]
    states = [_state(entry, writer.names) for entry in arguments["outputs_info"]]
    others = [writer.names[v] for v in arguments["non_sequences"]]
    steps = arguments["n_steps"]
    yield "results = pytensor.scan("
    yield "    step,"
    yield f"    sequences=[{', '.join(sequences)}],"
    yield f"    outputs_info=[{', '.join(states)}],"
    yield f"    non_sequences=[{', '.join(others)}],"
    yield f"    n_steps={writer.names[steps] if isinstance(steps, Variable) else steps!r},"
    yield f"    truncate_gradient={arguments['truncate_gradient']!r},"
    yield "    return_list=True,"
    yield "    return_updates=False,"
    yield ")"
    yield f"cost = {str(subject.declared).format(values=f'results[{subject.chosen}]')}"


def _state(entry: Variable | dict | None, names: Mapping[Variable, str]) -> str:
    if isinstance(entry, dict):
        return f"dict(initial={names[entry['initial']]}, taps={entry['taps']!r})"
    return "None" if entry is None else names[entry]


def _step(call: ScanCall, inside: PythonWriter) -> Iterator[str]:
    """The step as a function: what ``pytensor.scan`` traces."""
    arguments, results, condition = traced_step(call)
    names = [inside.name(v) for v in arguments]
    inside.write([*results, *([condition] if condition is not None else [])])
    yield f"def step({', '.join(names)}):"
    for line in inside.lines:
        yield f"    {line}"
    stop = f", until({inside.use(condition)})" if condition is not None else ""
    yield f"    return [{', '.join(map(inside.use, results))}]{stop}"


def _imported(subject: Subject, origin: tuple[str, str], why: str) -> Iterator[str]:
    """The lines that import the function which makes the graph."""
    module, function = origin
    roots = list(dict.fromkeys(explicit_graph_inputs([subject.cost])))
    for variable in (*subject.wrt, *subject.given):
        if variable not in roots:
            raise CannotWriteError(f"{why} {variable}: only an input can have a value in a script.")
    yield "# The graph is made by a function of its author's, since it cannot be written here:"
    yield f"# {harmless(why)}"
    yield "import importlib"
    yield ""
    yield 'sys.path.insert(0, "")'
    yield f"made = getattr(importlib.import_module({module!a}), {function!a})()"
    yield "from pytensor.graph.traversal import explicit_graph_inputs"
    yield ""
    yield "cost = made[0]"
    yield "roots = list(dict.fromkeys(explicit_graph_inputs([cost])))"
    yield from _values({f"roots[{n}]": v for n, v in enumerate(roots)}, subject)
    yield f"wrt = [{', '.join(f'roots[{roots.index(v)}]' for v in subject.wrt)}]"


def _shown(comparison: Comparison, subject: Subject, why: str) -> Iterator[str]:
    """What was found, for a graph that can neither be written nor imported."""
    yield f"# The graph cannot be written as Python: {harmless(why)}"
    yield "# This only shows what was found; it runs nothing.  The graph:"
    drawn = str(pytensor.dprint(subject.cost, file="str", print_type=True))
    yield from (f"#   {printable(line)}" for line in drawn.splitlines())
    yield from ("import sys", "")
    for row in comparison.found or comparison.rows:
        lines = [
            f"order {row.order}, gradient by {row.wrt}: {row.verdict}",
            f"  ours       {value_text(row.ours.value)} {row.ours.words}",
            f"  PyTensor's {value_text(row.theirs.value)} {row.theirs.words}",
        ]
        if row.differences is not None:
            lines.append(f"  finite differences {value_text(row.differences.value)}")
        yield from (f"print({line!a})" for line in lines)
    yield f"sys.exit({int(not comparison.agree)})"
