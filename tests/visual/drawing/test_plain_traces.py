"""Pictures use plain data and draw the same bytes in threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from plain import impurities

import lab
import visual
from lab import gallery
from lab.loops.gallery import loops
from visual.drawing.catalogue import PICTURES

NAMES = ("tapes", "ssa", "taps", "unrolled", "genealogy", "stepgraph")


@pytest.mark.parametrize("name", sorted(loops))
def test_traces_and_derivations_contain_only_plain_data(name):
    derivative = loops[name].derivative(1)
    trace = lab.trace(derivative)
    for picture in NAMES:
        getattr(visual, picture)(trace).svg()  # data that a picture caches in a trace is plain, too
    assert list(impurities(trace)) == []
    (derivation,) = (d for n in derivative.genealogy if (d := n.node.op.derivation))
    assert list(impurities(derivation.record)) == []


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
