"""Measure the speed of Scantape relative to other tools. No test depends on the numbers.

Lines about pictures compare tools that start from the same loop and compute its second derivative.
The other tools then print text or a graph, which is less than a picture. Lines about the eager tape
compare the times of equal gradients. Run ``make bench`` on a machine that does nothing else.
"""

import functools
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import browser
import routing

ROOT = Path(__file__).parent.parent
IMPORTS = "import pytensor.tensor, pytensor.scan"
LOOP = """
import pytensor, pytensor.tensor as pt
x0 = pt.dscalar("x0")
xs = pytensor.scan(lambda x: x**2, outputs_info=[x0], n_steps={steps}, return_updates=False)
g = pytensor.grad(xs[-1], x0)
h = pytensor.grad(g, x0)
"""
FAST_COMPILE = LOOP + 'pytensor.function([x0], [xs[-1], g, h], mode="FAST_COMPILE")(0.95)'
PYDOTPRINT = (
    LOOP
    + """
f = pytensor.function([x0], h, mode="FAST_COMPILE")
pytensor.printing.pydotprint(f, outfile={out!r}, format="svg", scan_graphs=True)
"""
)
TORCHVIZ = """
import torch, torchviz
x0 = torch.tensor(0.95, dtype=torch.float64, requires_grad=True)
x = x0
for _ in range(4):
    x = x**2
(g,) = torch.autograd.grad(x, x0, create_graph=True)
(h,) = torch.autograd.grad(g, x0, create_graph=True)
open({out!r}, "w").write(torchviz.make_dot(h).source)
"""
JAXPR = """
import jax
loop = lambda x: jax.lax.scan(lambda c, _: (c**2, None), x, None, length=4)[0]
second = jax.grad(jax.grad(loop))
open({out!r}, "w").write(str(jax.make_jaxpr(second)(0.95)) + str(second(0.95)))
"""


def process(*command, **environment):
    """Return the seconds that a process takes."""
    env = {**os.environ, **environment}
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, env=env, capture_output=True)
    return time.perf_counter() - start


def medians(ours, theirs, times=9):
    """Return the medians of two alternating measurements; a first run of each fills the caches."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(times)]
    return tuple(statistics.median(column) for column in zip(*pairs, strict=True))


def report(label, ours, theirs, limit):
    print(f"{label:66} {ours * 1e3:8.1f} ms {theirs * 1e3:9.1f} ms {ours / theirs:7.2f}   {limit}")


def fresh_processes(folder):
    out = str(folder / "tape.svg")
    draw = ("-m", "scantape", "draw", "tapes", "--loop", "square", "--order", "2", "-o", out)

    def ours():
        return process(sys.executable, *draw)

    def code(text):
        return lambda: process(sys.executable, "-c", text.format(out=out, steps=4))

    report(
        "fresh process to order-2 SVG : import of PyTensor", *medians(ours, code(IMPORTS)), "≤ 1.8"
    )
    cold = {"PYTHONPYCACHEPREFIX": str(folder / "cold")}
    cold_time = process(sys.executable, *draw, **cold)
    shutil.rmtree(folder / "cold", ignore_errors=True)
    report(
        "  the same without any compiled Python files",
        cold_time,
        process(sys.executable, "-c", IMPORTS, **cold),
        "",
    )
    others = {
        "torch + torchviz, as DOT": (("torch", "torchviz"), (), TORCHVIZ),
        "jax's jaxpr, as text": (("jax",), (), JAXPR),
        "PyTensor's pydotprint": (("pydot",), ("dot",), PYDOTPRINT),
    }
    for name, (modules, commands, text) in others.items():
        if all(map(importlib.util.find_spec, modules)) and all(map(shutil.which, commands)):
            report(f"fresh process to order-2 SVG : {name}", *medians(ours, code(text), 3), "< 1")
        else:
            print(f"fresh process to order-2 SVG : {name}: not installed")


def seconds(work, clock=time.perf_counter):
    start = clock()
    work()
    return clock() - start


def second_gradient():
    """Build a loop and its second derivative with PyTensor, without compiling or running it."""
    import pytensor
    import pytensor.tensor as pt

    x0 = pt.dscalar("x0")
    xs = pytensor.scan(lambda x: x**2, outputs_info=[x0], n_steps=4, return_updates=False)
    pytensor.grad(pytensor.grad(xs[-1], x0), x0)


def changes():
    import visual
    from lab.loops import gallery

    square = gallery.loops["square"]
    choices = [
        {"taps": {"x": taps}, "order": order, "steps": steps}
        for steps in (4, 5, 6)
        for taps in ((-1,), (-2, -1), (-3, -1), (-2,))
        for order in (1, 2)
    ]

    seconds(lambda: visual.draw(square, order=2, steps=3).svg())
    theirs = statistics.median(seconds(second_gradient) for _ in range(20))
    new = [seconds(lambda c=c: visual.draw(square, **c).svg()) for c in choices]
    repeated = [seconds(lambda c=c: visual.draw(square, **c).svg()) for c in choices]
    second = [t for t, c in zip(new, choices, strict=True) if c["order"] == 2]
    report(
        "change to new SVG, order 1 and 2 : PyTensor's grad of order 2",
        statistics.median(new),
        theirs,
        "≤ 100 ms",
    )
    report("  order 2 only", statistics.median(second), theirs, "≤ 100 ms")
    report("  seen before", statistics.median(repeated), theirs, "≤ 5 ms")


def tape_pictures():
    """Measure the processor time of the first and the second picture of the tapes of a trace."""
    import pickle

    import visual
    from lab.loops import gallery

    for order, limit in ((1, "≤ 0.34"), (2, "≤ 0.40"), (3, "≤ 0.46")):
        new, runs = pickle.dumps(gallery.loops["coupled"].trace(order)), []
        for _ in range(21):
            works = 2 * [functools.partial(visual.tapes, pickle.loads(new))]
            works.append(second_gradient)
            runs.append([seconds(work, time.process_time) for work in works])
        first, second, theirs = map(statistics.median, zip(*runs[1:], strict=True))
        report(
            f"tapes of coupled, order {order} : PyTensor's grad of order 2", first, theirs, limit
        )
        report("  the same trace again", second, theirs, "≤ 0.30")


DEEP = """
import lab, visual, pytensor.tensor as pt
def step(s):
    for _ in range({depth}):
        s = pt.sin(s)*pt.cos(s)
    return s
visual.draw(lab.Loop(step, states=[lab.State("s", 0.5)], n_steps=3), "tapes", order=1).svg()
"""
WIDE = """
import lab, visual
states = [lab.State("x" * {letters} + str(i), 0.5) for i in range({states})]
loop = lab.Loop(lambda **s: [x**2 for x in s.values()], states=states, n_steps=3)
visual.draw(loop, "tapes", order=1).svg()
"""


def depth_and_names():
    """Measure the time of new processes that draw a deep step, many states, or a long name."""
    imported = process(sys.executable, "-c", IMPORTS)
    for depth in (10, 100):
        seconds = process(sys.executable, "-c", DEEP.format(depth=depth))
        report(f"tapes of a step {depth} levels deep : import of PyTensor", seconds, imported, "")
    for letters, states in ((1, 40), (1, 160), (10_000, 1)):
        seconds = process(sys.executable, "-c", WIDE.format(letters=letters, states=states))
        label = f"tapes of {states} states, names of {letters:,} letters : import of PyTensor"
        report(label, seconds, imported, "")


def pages():
    """Measure the time to compute a page of machines, and the size of the page."""
    import visual

    loops = ["square", "fibonacci", "gap", "coupled", "logistic", "rnn"]
    start = time.perf_counter()
    page = visual.Page(loops, taps={"coupled": [{}]})
    size = len(page.page().encode())
    count, seconds = len(page.runs), time.perf_counter() - start
    print(f"  page of {count} machines: {seconds:.1f} s, {size / 1e6:.2f} MB   ≤ 3")


def high_orders():
    """Measure the time to build derivatives of high order, by Scantape and by PyTensor."""
    import pytensor
    import pytensor.tensor as pt

    import lab
    from lab.progress import hide_progress

    def loop():
        x0 = pt.dscalar("x0")
        xs = pytensor.scan(lambda x: x**2, outputs_info=[x0], n_steps=5, return_updates=False)
        return xs[-1], x0

    def ours(order):
        cost, x0 = loop()
        start = time.perf_counter()
        with hide_progress():
            lab.derivative(cost, x0, order)
        return time.perf_counter() - start

    def theirs(order):
        cost, x0 = loop()
        start = time.perf_counter()
        for _ in range(order):
            cost = pytensor.grad(cost, x0)
        return time.perf_counter() - start

    for order in (5, 6):
        elapsed = medians(lambda n=order: ours(n), lambda n=order: theirs(n), 3)
        report(f"building order {order} : PyTensor's grad", *elapsed, "≤ 0.33")
    report("building order 8 : 5 s", ours(8), 5.0, "≤ 1")
    sine = lab.Loop(lambda x: pt.sin(x), (lab.State("x", 0.5),), n_steps=5, name="sine")
    for loop in (lab.gallery.loops["square"], sine):
        start = time.perf_counter()
        loop.trace(10, mode="taylor")
        elapsed = time.perf_counter() - start
        report(f"order 10 of {loop.name} by Taylor mode, built and run : 1 s", elapsed, 1.0, "≤ 1")


def long_loops(folder):
    import visual
    from lab.loops import gallery

    square = gallery.loops["square"].with_values({"x": 0.9999})
    trace = (
        "from lab import gallery; import time; l = gallery.loops['square'].with_steps({n}); "
        "s = time.perf_counter(); l.trace(order=2); print(time.perf_counter() - s)"
    )

    def ours(steps):
        result = subprocess.run(
            [sys.executable, "-c", trace.format(n=steps)],
            check=True,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        return float(result.stdout)

    timed = FAST_COMPILE.replace("import pytensor,", "import time, pytensor,", 1)
    timed = timed.replace("x0 = pt", "s = time.perf_counter()\nx0 = pt", 1)
    timed += "\nprint(time.perf_counter() - s)"

    def theirs(folder):
        env = {**os.environ, "PYTENSOR_FLAGS": f"base_compiledir={folder}"}
        result = subprocess.run(
            [sys.executable, "-c", timed.format(steps=1000)],
            check=True,
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
        )
        return float(result.stdout)

    thousand = statistics.median(ours(1000) for _ in range(5))
    cold = statistics.median(theirs(folder / f"compiled{i}") for i in range(3))
    warm = statistics.median(theirs(folder / "compiled0") for _ in range(3))
    report("1,000 steps at order 2 : FAST_COMPILE, first time", thousand, cold, "≤ 0.33")
    report("  FAST_COMPILE with its C helper already compiled", thousand, warm, "")
    report("10,000 steps : 10 times 1,000 steps", ours(10_000), 10 * thousand, "about 1")
    sizes = [len(visual.draw(square, order=2, steps=n).svg()) for n in (12, 10_000)]
    print(
        f"SVG of 12 and of 10,000 steps: {sizes[0]:,} and {sizes[1]:,} bytes, "
        f"ratio {sizes[1] / sizes[0]:.2f}   ≤ 2"
    )


WINDOW = """
import resource, time
import pytensor, lab
from lab import gallery
loop = gallery.loops["logistic"].with_values({{"r": 3.4}}).with_steps({steps})
derivative = loop.derivative(1)
f = lambda: lab.trace(derivative, keep="last")
if {theirs}:
    inputs, values = list(derivative.given), list(derivative.given.values())
    compiled = pytensor.function(inputs, list(derivative.values), on_unused_input="ignore")
    f = lambda: compiled(*values)
f()
times = []
for _ in range(5):
    start = time.perf_counter()
    f()
    times.append(time.perf_counter() - start)
print(sorted(times)[2], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def windows(steps=1_000_000):
    """Compare the trace of a long loop (``keep="last"``) with PyTensor's compiled gradient."""

    def measure(theirs):
        code = WINDOW.format(steps=steps, theirs=theirs)
        result = subprocess.run(
            [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
        )
        return map(float, result.stdout.split())

    (ours, most), (theirs, least) = measure(False), measure(True)
    report(f'{steps:,} steps at order 1, keep="last" : PyTensor, compiled', ours, theirs, "≤ 3")
    print(f"  memory: {most:.0f} and {least:.0f} MB, ratio {most / least:.2f}   ≤ 1.4")


WIDE_STATE = """
import resource, time
import numpy as np
import pytensor, pytensor.tensor as pt, lab
W, h0, u = pt.dmatrix("W"), pt.dvector("h0"), pt.dmatrix("u")
hs = pytensor.scan(lambda u, h, W: pt.tanh(pt.dot(W, h) + u), sequences=[u], outputs_info=[h0],
                   non_sequences=[W], return_updates=False)
cost = (hs[-1] ** 2).sum()
draw = np.random.default_rng(0).normal
given = {{W: draw(size=(64, 64)) / 8, h0: draw(size=64), u: draw(size=({steps}, 64))}}
if {theirs}:
    compiled = pytensor.function(list(given), [cost, pytensor.grad(cost, W)])
    f = lambda: compiled(*given.values())
else:
    f = lambda: lab.trace(lab.derivative(cost, W), given, keep={keep!r})
f()  # imports, and the first use of the memory
start = time.process_time()
f()
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def wide_states():
    """Compare traces of a recurrent network of 64 units with PyTensor's compiled gradient."""

    def measure(theirs, keep, steps):
        code = WIDE_STATE.format(theirs=theirs, keep=keep, steps=steps)
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
        )
        return map(float, done.stdout.split())

    for steps, keep, slower, larger in ((10_000, "all", "≤ 10", 3), (100_000, "last", "", 1.4)):
        (ours, most), (theirs, least) = measure(False, keep, steps), measure(True, keep, steps)
        report(f'{steps:,} steps of 64 units, keep="{keep}" : PyTensor', ours, theirs, slower)
        print(f"  memory: {most:.0f} and {least:.0f} MB, ratio {most / least:.2f}   ≤ {larger}")


def influences(steps=200):
    """Compare `lab.influence`, which uses forward mode, with a reverse-mode run for each row."""
    import lab
    from lab import gallery

    loop = gallery.loops["rnn"]
    values = loop.sequences[0].values
    loop = loop.with_values({"x": values[[n % len(values) for n in range(steps)]]})
    derivative = loop.derivative()
    trace = lab.trace(derivative)

    def ours():
        start = time.perf_counter()
        lab.influence(derivative, trace=trace)
        return time.perf_counter() - start

    def theirs():  # the time of a trace, for each of the `steps` rows
        start = time.perf_counter()
        loop.trace()
        return (time.perf_counter() - start) * steps

    report(f"influence of {steps} steps : a trace for each row", *medians(ours, theirs, 3), "≤ 0.1")


def pictures():
    """Measure every picture of every loop of the gallery at order 2, from an existing trace."""
    import gc

    from lab.loops import gallery
    from visual.drawing.catalogue import PICTURES
    from visual.drawing.study import study_of

    print("pictures at order 2, from the trace: median, slowest and largest over the gallery:")
    gc.disable()
    for kind in PICTURES.values():
        times, sizes = {}, {}
        for name, loop in gallery.loops.items():
            study = study_of(loop, order=2)
            assert study.trace_of_cost.scans
            kind.draw(study).svg()  # the first picture of a trace computes formulas and records
            elapsed = []
            for _ in range(5):
                start = time.perf_counter()
                svg = kind.draw(study).svg()
                elapsed.append(time.perf_counter() - start)
            times[name], sizes[name] = statistics.median(elapsed), len(svg.encode())
        slow, large = max(times, key=times.get), max(sizes, key=sizes.get)
        median = statistics.median(times.values())
        durations = f"{median * 1e3:.1f}, {times[slow] * 1e3:.1f} ms ({slow})"
        size = f"{sizes[large] / 1e3:.0f} KB ({large})"
        print(f"  {kind.name:12} {durations:26} {size:20} ≤ 20, ≤ 40 ms, ≤ 100 KB")
    gc.enable()


def scalar_loop(xp, steps):
    def f(x):
        for _ in range(steps):
            x = x * 0.999 + 0.001 * xp.sin(x)
        return x

    return f


def network(xp, data, target, hidden=50):
    """Return the squared error of two layers as a function of one vector with all weights."""
    inputs = data.shape[1]
    cuts = [0, inputs * hidden, (inputs + 1) * hidden, (inputs + 2) * hidden]

    def f(w):
        first = xp.reshape(w[: cuts[1]], (inputs, hidden))
        inner = xp.tanh(xp.dot(data, first) + w[cuts[1] : cuts[2]])
        return xp.mean((xp.dot(inner, w[cuts[2] : cuts[3]]) + w[-1] - target) ** 2)

    return f


def eager_tapes():
    import numpy

    from lab.eager import grad, np, recording

    def timed(function, x):
        def seconds():
            start = time.perf_counter()
            function(x)
            return time.perf_counter() - start

        return seconds

    loop = grad(scalar_loop(np, 10_000))
    ours, theirs = timed(lambda x: recording(loop, x), 0.5), timed(loop, 0.5)
    report("eager tape of 10,000 steps, recorded : not recorded", *medians(ours, theirs, 3), "")
    if importlib.util.find_spec("autograd") is None:
        print("eager tape : autograd: not installed")
        return
    import autograd

    rng = numpy.random.default_rng(0)
    data, target = rng.normal(size=(1000, 100)), rng.normal(size=1000)
    weights = 0.1 * rng.normal(size=102 * 50 + 1)
    short, theirs = scalar_loop(np, 1000), scalar_loop(autograd.numpy, 1000)
    cases = {
        "gradient of a 10,000-step scalar loop": (
            loop,
            autograd.grad(scalar_loop(autograd.numpy, 10_000)),
            0.5,
        ),
        "second derivative of 1,000 steps": (
            grad(grad(short)),
            autograd.grad(autograd.grad(theirs)),
            0.5,
        ),
        "gradient of a two-layer network on 1,000 × 100 data": (
            grad(network(np, data, target)),
            autograd.grad(network(autograd.numpy, data, target)),
            weights,
        ),
    }
    for label, (ours, theirs, x) in cases.items():
        assert numpy.allclose(ours(x), theirs(x), rtol=1e-12)
        times = 101 if numpy.ndim(x) else 9
        report(f"{label} : autograd", *medians(timed(ours, x), timed(theirs, x), times), "≤ 1")


def main():
    print(f"{'':66} {'ours':>11} {'theirs':>12} {'ratio':>7}   target")
    with tempfile.TemporaryDirectory() as folder:
        fresh_processes(Path(folder))
        changes()
        tape_pictures()
        pages()
        eager_tapes()
        high_orders()
        windows()
        wide_states()
        influences()
        long_loops(Path(folder))
        routing.measure(medians, report)
    pictures()
    browser.measure()


if __name__ == "__main__":
    main()
