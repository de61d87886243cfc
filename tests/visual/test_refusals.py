"""A wrong argument of a picture, an exercise, or a page raises an error that quotes the value.

`tests/test_error_messages.py` contains the messages of arguments that many functions share.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from fuzzing.outcomes import words_test
from strange_loops import LOOPS, ONLY_SEQUENCES, derivations_of

import visual
from lab.eager import grad, recording
from lab.loops import gallery
from lab.tape import Tape
from visual.pictures.phases.phases import phases
from visual.pictures.taps import taps
from visual.player.grid import tap_patterns
from visual.player.state import as_text, from_text
from visual.workbench.workbench import Workbench

SQUARE = gallery.loops["square"]
TRACE = SQUARE.trace()
V = np.array([1.5, -2.0, 3.0, 4.0])


def power(x):
    for _ in range(41):
        x = x * 1.01
    return x


def page(**chosen):
    return visual.Page(**chosen).page()


def question(answer, choices=(), hint="", mistakes=None, tolerance=0.005, asked="?", why="why"):
    return visual.Question(asked, answer, why, choices, hint, mistakes or {}, tolerance)


def calls(function, *rows):
    """Return calls and the words of their errors, from rows of arguments, options, and words."""
    return [(partial(function, *args, **options), words) for *args, options, words in rows]


DRAWING = calls(
    partial(visual.draw, SQUARE),
    ("tapes", {"scan": 0}, "scan = 0: expected a Scan of this trace: 1 · square or 2 · grad"),
    ("tapes", {"step": True}, "step = True"),
    ("ssa", {"order": 0}, "order"),
    ("phases", {"order": 0}, "order"),
    ("stepgraph", {"step": 9}, "step = 9"),
    ("stepgraph", {"all": True}, "option stepgraph.all was removed in version 0.3"),
    ("phases", {"scan": 1}, "scan = 1: the Scans of derivatives are 2 · gradient of square."),
)
UNROLLED = calls(
    partial(visual.unrolled, TRACE),
    ({"scans": ()}, "scans = "),
    ({"scans": (0, 1)}, "a Scan of this trace: 1 · square or 2 · gradient of square."),
    ({"scans": "12"}, "scans = '12'"),
    ({"scans": (1, True)}, "scans = True"),
    ({"scans": (1, 1)}, "only once"),
    ({"all_direct": True}, "unrolled.all_direct was removed in version 0.3: use `scantape"),
)
PICTURES = [
    (partial(visual.draw, ONLY_SEQUENCES, "ssa", wrt="u"), "no step reads a state"),
    (partial(taps, 3), "tapes = 3"),
    (partial(taps, {"x": (-1,)}), "Tape"),
    (partial(taps, Tape((-1,), (0,)), -1), "orders = -1"),
    (partial(phases, None), "derivation = None"),
    (lambda: phases(derivations_of("square", 1)[0], phase=5), "phase was removed"),
    (partial(visual.transposed, SQUARE.trace(order=0)), "order = 0"),
    (partial(visual.transposed, TRACE, scan=7), "scan = 7: expected a differentiated Scan: "),
    (partial(visual.transposed, TRACE, step=4), "step = 4: expected a step of square, 0 to 3"),
    (partial(visual.two_tapes, gallery.loops["gap"]), "use lab.eager.np"),
    *(
        (partial(visual.eager, recording(grad(grad(np.square)), 0.5), tape=tape), "tape = ")
        for tape in (-1, 2, "x", True)
    ),
]
ROUTING = calls(
    visual.routing,
    ("flip", (V,), {}, "primitive = 'flip': expected one of where, cat, narrow"),
    ("cat", None, {"dim": 0}, "cat: inputs: expected a tuple or a list"),
    ("cat", [V] * 7, {"dim": 0}, "inputs: expected at most 6, got 7."),
    ("clamp", (np.arange(25.0), 0, 1), {}, "x has shape (25,): a picture"),
)
MACHINES = calls(
    visual.machine,
    (TRACE, {"around": "x"}, "around = 'x': "),
    (TRACE, TRACE, {"rule": "swapped-taps"}, "other and rule: "),
    (replace(TRACE), {"rule": "swapped-taps"}, "rule = 'swapped-taps': "),  # not recorded
    (replace(TRACE, scans=()), {}, "at least one step"),
    (3, {}, "trace = 3: "),
    (recording(grad(np.square), 2.5), TRACE, {}, "other and rule: expected at most one"),
    (recording(grad(np.square), 2.5), {"rule": "swapped-taps"}, "expected a trace"),
    (recording(grad(power), 1.0), {}, "1 to 40 nodes, got 42. Draw visual.eager"),
)
EXERCISES = [
    (partial(visual.Exercise, "x", "overwritten"), "trace = 'x'"),
    (partial(visual.Exercise, TRACE, "taps", 0.5), "seed = 0.5"),
    (partial(visual.Exercise, TRACE, "taps", 0, "pink"), "theme = 'pink'"),
    (partial(visual.Exercise, SQUARE.trace(order=0), "taps"), "no such question"),
    (partial(question, True), "answer = True: expected a number"),
    (
        partial(question, "no", ("yes", "no"), mistakes={"x": "?"}),
        "answer = 'x': expected 'yes' or 'no'",
    ),
    (partial(question, (0.5, float("inf"))), "answer = inf: expected a number"),
    (partial(question, ()), "answer = (): expected at least one number"),
    (partial(question, "a", "abc"), "choices = 'abc': expected several texts."),
    (partial(question, "a", ("a", "b", "a")), "choices = 'a': the choice occurs more than once."),
    (partial(question, " a", (" a", "b")), "choices = ' a': expected texts"),
    (partial(question, 1.5, tolerance=float("inf")), "tolerance = inf: expected 0 or more."),
    (partial(question, 1.5, mistakes=[2]), "mistakes = [2]: expected a mapping"),
    (partial(question, 1.5, hint=None), "hint = None: expected a text, or several."),
    (partial(question, 1.5, why=" "), "why = ' ': expected a text, not empty."),
    (partial(question, 1.5, asked=3), "question = 3: expected a text, not empty."),
    (partial(visual.Work, 1, sum, ((1,),)), "name = 1"),
    (partial(visual.Work, "a", 1, ((1,),)), "right = 1: expected a function"),
    (partial(visual.Work, "a", sum, ()), "cases = (): expected tuples"),
    (partial(visual.Work, "a", sum, (1,)), "cases = (1,): expected tuples"),
    (partial(visual.Work, "a", sum, ((1,),), "hint"), "hints = 'hint': expected a tuple"),
    (partial(visual.Work, "a", sum, ((1,),), (), ["x"]), "slips = ['x']: expected functions"),
    (partial(visual.Work, "a", sum, ((1,),), (), {"x": 1}), "slips = 1: expected a function"),
    (partial(visual.Work, "a", sum, ((1,),), (), {}, (1,)), "also = 1: expected a function"),
    (partial(visual.Work("a", sum, (([1],),)).check, 1), "written = 1"),
]
PAGES = calls(
    page,
    ({"loops": []}, "loops = (): expected at least one"),
    ({"loops": [3]}, "lab.Loop"),
    ({"loops": [LOOPS["nan"], LOOPS["inf"]]}, "scan_fn"),
    ({"taps": {"gap": [(-1,)]}, "loops": "square"}, "gap"),
    ({"taps": [(-1,)]}, "from loop names to tap patterns"),
    ({"taps": {"square": (-2, -1)}}, "[(-1,), (-2, -1)]"),
    ({"taps": {"square": []}}, "at least one"),
    ({"taps": {"square": [{"y": (-1,)}]}}, "'y'"),
    ({"orders": [True]}, "True"),
    ({"rules": ["correct", "never"]}, "never-accumulate"),
    ({"title": " "}, "title"),
)
LINKS = [
    (partial(read, text), words)
    for read, text, words in (
        (from_text, "order", "link = 'order': expected pairs"),
        (from_text, "order.x=1", "link = 'order.x=1': expected pairs"),
        (from_text, "taps=-1", "link = 'taps=-1': expected pairs, as in 'order=2&taps.x=-2,-1'"),
        (from_text, "order=two", "order = 'two': expected a number"),
        (from_text, "at.x=1,two", "at.x = 'two': expected a number"),
        (from_text, "ordr=2", "key = 'ordr': did you mean 'order'?"),
        (from_text, 3, "text = 3: expected text"),
        (as_text, {"moments": 1}, "moments"),
        (as_text, {"at": 3}, "at"),
        (as_text, {"at": {"x": [[[[0.0]]]]}}, "x"),
        (Workbench, "loop=square&moment=1.5", "moment = 1.5: expected an integer"),
        (Workbench, "loop=square&taps.y=-1", "taps"),
        (Workbench, 3, "subject = 3: expected a lab.Loop"),
    )
] + [
    (partial(Workbench, step=3), "Workbench.step was removed"),
    (partial(tap_patterns, ONLY_SEQUENCES, [(-1,)]), "the loop has only sequences"),
]
test_a_wrong_argument_is_named = words_test(
    *DRAWING, *UNROLLED, *PICTURES, *ROUTING, *MACHINES, *EXERCISES, *PAGES, *LINKS
)
