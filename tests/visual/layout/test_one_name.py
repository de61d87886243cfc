"""In one picture no two quantities have one name, whichever Scans they belong to."""

import re
from collections import defaultdict
from dataclasses import replace

import pytest

import visual
from lab.loops import gallery
from visual.scene.shapes import Group

CELL = re.compile(r"\d+:[^:]+:")  # keys of values: a Scan, a variable, a row or an index
LABEL = re.compile(r'\[label="([^"]*)"')
MADE = re.compile(r"(?:puts out|sums up|unused) ([^;]*)|([^ ;·]+): mit-mot")


def ambiguous_cells(scene):
    """Names that cells of several quantities have; a running total has one in all its rows."""
    found = defaultdict(set)
    for group in scene.groups():
        name, held, _ = group.title.partition(" = ")
        if held and CELL.match(group.cell):
            found[name].add(group.cell)
    return {
        name
        for name, keys in found.items()
        if len({CELL.match(key).group() for key in keys}) > 1
        or (len(keys) > 1 and not any(":r" in key for key in keys))
    }


def ambiguous_rows(dot):
    """Names by which a genealogy calls what several of its Scans make."""
    found = defaultdict(set)
    for number, label in enumerate(LABEL.findall(dot)):
        for line in label.split(r"\n"):
            for names, tape in MADE.findall(re.sub(r" = (\[[^\]]*\]|[-\d.]+)", "", line)):
                for name in re.split(", | and ", names) if names else [tape]:
                    found[name].add(number)
    return {name for name, scans in found.items() if len(scans) > 1}


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_no_name_stands_for_two_quantities(name, order):
    trace = gallery.loops[name].trace(order=order)
    for picture in (visual.tapes, visual.moment, visual.ssa, visual.stepgraph):
        assert ambiguous_cells(picture(trace)) == set()
    dot = visual.genealogy(trace, all=True).dot
    assert "mit-mot" in dot
    assert ambiguous_rows(dot) == set()


def test_two_quantities_of_one_name_are_seen():
    trace = gallery.loops["coupled"].trace(order=2)
    scene = visual.tapes(trace)
    cells = (Group((), cell=f"{n}:x:r0", title="x₀ = 1") for n in (7, 8))
    assert ambiguous_cells(replace(scene, shapes=(*scene.shapes, *cells))) == {"x₀"}
    told = ("puts out d2prey and d2hunters", "d2prey: mit-mot · reads 0, 1")
    rows = [rf'n{n} [label="{n + 1} · a\n{words}"];' for n, words in enumerate(told)]
    assert ambiguous_rows("\n".join(rows)) == {"d2prey"}
