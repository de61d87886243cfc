"""A comparison as a script with pytensor and numpy alone, for a maintainer to run.

The graph is written as Python: a declared loop as a call of ``pytensor.scan``, any other graph
operation by operation.  Where that cannot be done, the function that makes it is imported; and
where there is none, the inner graph is shown with the numbers that were found.

The parts of a comparison's script that are the same in all of them.

They are texts of Python, with gaps in braces; `lab.reports.compare.script` fills them in.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors

from lab.errors import printable
from lab.reports.compare.as_python import CannotWriteError, PythonWriter, array
from lab.reports.compare.comparison import Comparison, summary, value_text
from lab.reports.compare.subject import Subject

MOST_ENTRIES = 24


def script(comparison: Comparison, subject: Subject) -> str:
    """The script of a comparison of the graph in `subject`; see `Comparison.report`."""
    try:
        building = _building(subject)
    except CannotWriteError as error:
        return _shown(comparison, subject, str(error))
    last = comparison.visible or max((row.order for row in comparison.rows), default=1)
    rows = [row for row in comparison.rows if row.order <= last]
    found = [row for row in rows if row.is_found] or [row for row in rows if row.order == last]
    names = subject.names
    parts = [
        _head(comparison),
        IMPORTS,
        "\n".join(building) + "\n",
        CHECK.format(
            order=last,
            truncated=comparison.truncated,
            summed=[list(places) for places in comparison.summed],
            asked=[(names.index(row.wrt), row.order) for row in found],
            most=MOST_ENTRIES,
        ),
    ]
    return "\n".join(parts)


def _building(subject: Subject) -> list[str]:
    """The lines that make the graph, or import what makes it."""
    try:
        return list(_written(subject))
    except CannotWriteError as error:
        if subject.origin is None:
            raise
        return list(_imported(subject, str(error)))


def _head(comparison: Comparison) -> str:
    title = harmless(summary(comparison))
    return HEAD.format(title=title, version=comparison.version)


def harmless(told: str) -> str:
    """A text for a comment: on one line, and of characters that do nothing."""
    return printable(" ".join(told.split()))


def _written(subject: Subject) -> Iterator[str]:
    """The lines that build the graph."""
    writer = PythonWriter()
    if subject.declared is not None:
        yield from _call(subject, writer)
    else:
        for variable in subject.wrt:
            if variable.owner is not None:
                raise CannotWriteError(f"{variable}: a gradient is asked for by what is computed.")
        inputs = [
            v
            for v in dict.fromkeys(ancestors([subject.cost]))
            if v.owner is None and not isinstance(v, Constant)
        ]
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
    used = [v for v in subject.given if v in writer.names]
    entries = [f"    {writer.names[v]}: {_value(v, subject.given[v])}," for v in used]
    yield "given = {"
    yield from entries
    yield "}"
    yield f"wrt = [{', '.join(writer.use(v) for v in subject.wrt)}]"


def _value(variable: Variable, value: Any) -> str:
    if isinstance(value, np.random.Generator):
        raise CannotWriteError(f"{variable}: a generator is not written.")
    return array(np.asarray(value).astype(variable.type.dtype))


def _call(subject: Subject, writer: PythonWriter) -> Iterator[str]:
    """A declared loop: its inputs, its step, and the call."""
    declared, call = subject.declared, subject.call
    assert declared is not None  # the caller has looked
    assert call is not None
    for variable in call.inputs.values():
        writer.declare(variable)
    yield from writer.lines
    yield from ("", "")
    inside = PythonWriter()
    inside.used |= set(writer.used)
    yield from _step(subject, inside)
    yield from ("", "")
    arguments = call.arguments
    sequences = [
        f"dict(input={writer.names[s['input']]}, taps={s['taps']!r})"
        for s in arguments["sequences"]
    ]
    states = [_state(entry, writer) for entry in arguments["outputs_info"]]
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
    yield f"cost = {declared.format(values=f'results[{subject.chosen}]')}"


def _state(entry: Any, writer: PythonWriter) -> str:
    if entry is None:
        return "None"
    if isinstance(entry, dict):
        return f"dict(initial={writer.names[entry['initial']]}, taps={entry['taps']!r})"
    return writer.names[entry]


def _step(subject: Subject, inside: PythonWriter) -> Iterator[str]:
    """The step as a function: what ``pytensor.scan`` traces."""
    arguments, results, condition = subject.traced_step()
    names = [inside.name(v) for v in arguments]
    inside.write([*results, *([condition] if condition is not None else [])])
    yield f"def step({', '.join(names)}):"
    for line in inside.lines:
        yield f"    {line}"
    returned = f"[{', '.join(map(inside.use, results))}]"
    if condition is not None:
        yield f"    return {returned}, until({inside.use(condition)})"
    else:
        yield f"    return {returned}"


def _imported(subject: Subject, why: str) -> Iterator[str]:
    """The lines that import the function which makes the graph."""
    module, function = subject.origin or ("", "")
    inputs = [v for v in dict.fromkeys(ancestors([subject.cost])) if v.owner is None]
    roots = [v for v in inputs if not isinstance(v, Constant | SharedVariable)]
    for variable in (*subject.wrt, *subject.given):
        if variable not in roots:
            raise CannotWriteError(f"{why} {variable}: only an input can have a value in a script.")
    yield "# The graph is made by a function of its author's, since it cannot be written here:"
    yield f"# {harmless(why)}"
    yield "import importlib"
    yield ""
    yield 'sys.path.insert(0, "")'
    yield f"made = getattr(importlib.import_module({module!a}), {function!a})()"
    yield "from pytensor.graph.traversal import ancestors"
    yield ""
    yield "cost = made[0]"
    yield "roots = [v for v in dict.fromkeys(ancestors([cost])) if v.owner is None]"
    yield 'roots = [v for v in roots if not hasattr(v, "data") and not hasattr(v, "get_value")]'
    yield "given = {"
    yield from (f"    roots[{n}]: {_value(v, subject.given[v])}," for n, v in enumerate(roots))
    yield "}"
    yield f"wrt = [{', '.join(f'roots[{roots.index(v)}]' for v in subject.wrt)}]"


def _shown(comparison: Comparison, subject: Subject, why: str) -> str:
    """What was found, for a graph that can neither be written nor imported."""
    lines = [_head(comparison), f"# The graph cannot be written as Python: {harmless(why)}"]
    lines.append("# This only shows what was found; it runs nothing.  The graph:")
    drawn = pytensor.dprint(subject.cost, file="str", print_type=True)
    lines += [f"#   {printable(line)}" for line in drawn.splitlines()]
    lines += ["import sys", ""]
    for row in comparison.found or comparison.rows:
        told = [f"order {row.order}, gradient by {row.wrt}: {row.verdict}"]
        told.append(f"  ours       {value_text(row.ours.value)} {row.ours.words}")
        told.append(f"  PyTensor's {value_text(row.theirs.value)} {row.theirs.words}")
        if row.differences is not None:
            told.append(f"  finite differences {value_text(row.differences.value)}")
        lines += [f"print({line!a})" for line in told]
    lines.append(f"sys.exit({int(not comparison.agree)})")
    return "\n".join(lines) + "\n"


HEAD = """\
# {title}
# Written for PyTensor {version}; this needs pytensor and numpy alone.
# It prints PyTensor's gradient beside finite differences of the cost, of which derivative k + 1
# is that of the sum of all entries of derivative k.  The exit status is 1 if they differ.
"""

IMPORTS = """\
import os
import sys

os.environ.setdefault("PYTENSOR_FLAGS", "cxx=")  # nothing is compiled, which is enough here

import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
from numpy import inf, nan
from pytensor.compile.mode import Mode
from pytensor.gradient import NullType, grad
from pytensor.scan.op import Scan, ScanInfo
from pytensor.scan.utils import until

MODE = Mode(linker="vm", optimizer=None)  # the graph as it was built, without rewriting
"""

CHECK = '''\
# Derivatives of these orders, and the inputs whose gradients are summed up after each.
ORDER, SUMMED = {order!r}, {summed!r}
TRUNCATED = {truncated!r}
ASKED = {asked!r}  # the inputs, by number, and the orders at which their gradient is looked at
FAILED = []
print("PyTensor", pytensor.__version__, "numpy", np.__version__)

inputs = list(given)
value = pytensor.function(inputs, cost, mode=MODE, on_unused_input="ignore")
sizes = [np.size(given[v]) for v in wrt]
ends = np.cumsum([0, *sizes])
EPS = np.finfo(np.result_type(cost.type.dtype, "float16")).eps
start = np.concatenate([np.ravel(given[v]).astype("float64") for v in wrt])


def cost_at(flat):
    moved = dict(given)
    for number, v in enumerate(wrt):
        part = flat[ends[number] : ends[number + 1]]
        moved[v] = part.reshape(np.shape(given[v])).astype(v.type.dtype)
    return float(value(*(moved[v] for v in inputs)))


def slope(function, at, direction, step):
    weights = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return sum(
        w * (function(at + m * step * direction) - function(at - m * step * direction))
        for m, w in weights
    ) / step


def difference(number, entry, order):
    """One entry of the derivative, and how far it may be off: of several steps the best."""
    unit, ones = np.zeros_like(start), np.zeros_like(start)
    unit[ends[number] + entry] = 1.0
    for place in SUMMED[order - 2] if order > 1 else ():
        ones[ends[place] : ends[place + 1]] = 1.0
    found = []
    for step in (0.04, 0.02, 0.01, 0.005, 0.0025):
        function = cost_at
        for _ in range(order - 1):
            function = lambda at, f=function: slope(f, at, ones, step)
        found.append(slope(function, start, unit, step))
    pairs = list(zip(found, found[1:]))
    errors = [abs(a - b) for a, b in pairs]
    best = int(np.argmin([error if np.isfinite(error) else inf for error in errors]))
    return pairs[best][1], errors[best]


def compare(number, order, gradient):
    name = wrt[number].name or str(wrt[number])
    label = "order %d, gradient by %s" % (order, name)
    if isinstance(gradient.type, NullType):
        print(label, "there is none:", gradient.type.why_null)
        return
    try:
        run = pytensor.function(inputs, gradient, mode=MODE, on_unused_input="ignore")
        found = np.ravel(run(*(given[v] for v in inputs)))
    except Exception as error:
        print(label, "FAILS:", type(error).__name__, str(error).strip().splitlines()[:1])
        FAILED.append(label)
        return
    entries = range(min(sizes[number], {most}))
    differences = [difference(number, entry, order) for entry in entries]
    expected, errors = (np.array([pair[k] for pair in differences]) for k in (0, 1))
    shape = len(found) == sizes[number]
    found = found[: len(expected)]
    print(label)
    print("  PyTensor          ", found)
    print("  finite differences", expected)
    told = np.isfinite(errors)
    scale = np.max(np.abs([*expected[told], *found[np.isfinite(found)]]), initial=0.0)
    rounding = 10 * EPS * abs(cost_at(start)) / 0.0025**order
    room = 100 * errors + 1e-6 * scale + rounding
    near = shape and np.all((np.abs(found - expected) <= room)[told])
    if TRUNCATED:
        print("  not to be compared: a loop has truncate_gradient, the differences go back further")
    elif not near:
        print("  DIFFERENT")
        FAILED.append(label)
    elif told.all():
        print("  the same")
    else:
        print("  where finite differences give a number, the same")


target = cost
for order in range(1, ORDER + 1):
    try:
        gradients = grad(target, wrt, disconnected_inputs="ignore", null_gradients="return")
    except Exception as error:
        print("order", order, "FAILS:", type(error).__name__, str(error).strip().splitlines()[:1])
        FAILED.append(order)
        break
    for number, gradient in enumerate(gradients):
        if (number, order) in ASKED:
            compare(number, order, gradient)
    if order < ORDER:
        target = sum(gradients[number].sum() for number in SUMMED[order - 1])

sys.exit(1 if FAILED else 0)
'''
