"""The parts of a comparison's script that are the same in all of them.

They are texts of Python, with gaps in braces; `lab.comparison_report` fills them in.
"""

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
