"""Pictures use plain data and draw the same bytes in threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass, replace

import numpy as np
import pytest

import lab
import visual
from lab import gallery
from lab.loops.gallery import loops
from visual.drawing.catalogue import PICTURES

NAMES = ("tapes", "ssa", "taps", "unrolled", "genealogy", "stepgraph")
PLAIN = (str, int, float, bool, type(None), np.ndarray, np.generic)


def impurities(value, path="trace"):
    """Yield the paths of values that are not plain data."""
    if is_dataclass(value):  # its fields, and what pictures cache in it
        parts = {f".{name}": part for name, part in vars(value).items()}
    elif isinstance(value, tuple | list | dict):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        parts = {f"[{key}]": part for key, part in pairs}
    else:
        parts = {}
        yield from [] if isinstance(value, PLAIN) else [path]
    for name, part in parts.items():
        yield from impurities(part, path + name)


@pytest.mark.parametrize("name", sorted(loops))
def test_traces_and_derivations_contain_only_plain_data(name):
    derivative = loops[name].derivative(1)
    trace = lab.trace(derivative)
    for picture in NAMES:
        getattr(visual, picture)(trace).svg()  # data that a picture caches in a trace is plain, too
    assert list(impurities(trace)) == []
    (derivation,) = (d for n in derivative.genealogy if (d := n.node.op.derivation))
    assert list(impurities(derivation.record)) == []


def test_a_function_and_a_variable_are_detected():
    trace = loops["square"].trace()
    scan = replace(trace.scans[0], formulas=lambda: ())
    wrong = replace(trace, scans=(scan,), inputs=(loops["square"].build().node.outputs[0],))
    assert list(impurities(wrong)) == ["trace.scans[0].formulas", "trace.inputs[0]"]


FORMS = ("svg", "pdf", "png", "html", "txt")


def draw_in_all_formats(task, folder):
    """Draw a picture of a new loop; return it in several formats."""
    name, kind, theme, number = task
    picture = visual.draw(replace(gallery.loops[name]), kind, theme, order=1)
    files = []
    for form in FORMS if kind == "values" or (kind, name) == ("tapes", "square") else ("svg",):
        path = folder / f"{name}-{kind}-{theme}-{number}.{form}"
        picture.save(path)
        files.append(path.read_bytes())
    return files


def test_threads_draw_the_same_bytes(tmp_path):
    themes = ("light", "dark", "print", "light")
    kinds = [*PICTURES, *["values"] * 5]
    tasks = [(("square", "coupled")[i % 2], kind, themes[i % 4], i) for i, kind in enumerate(kinds)]
    sequential = [draw_in_all_formats(task, tmp_path) for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        parallel = list(pool.map(lambda task: draw_in_all_formats(task, tmp_path), tasks))
    assert [task for task, a, b in zip(tasks, sequential, parallel, strict=True) if a != b] == []
