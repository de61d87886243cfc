"""The nodes and arrows of the eight figures, compared with the drawings of the lesson.

The file figures.txt lists each node with its color and the nodes at the ends of its arrows: B blue
(input, or gradient of an input), R red (output or seed), W white (intermediate).  Lowercase letters
mean a faded node, whose arrows do not lead to a result.  The drawings of figures 4 and 5 fade other
nodes, which the illustrator selected.
"""

import re
from pathlib import Path

import pytest
from pictures import box_at

from visual.drawing.draw import figure
from visual.scene.shapes import Arrow
from visual.scene.theme import Role

COLORS = {Role.INPUT: "B", Role.RESULT: "B", Role.SEED: "R", Role.INTERMEDIATE: "W"}


def drawings():
    """Yield the colors of the nodes of each drawing, and its arrows as pairs of nodes."""
    text = Path(__file__).with_name("figures.txt").read_text(encoding="utf-8")
    for drawing in text.split("\n\n"):
        rows = [re.split(" → |, | ", line) for line in drawing.splitlines()[1:]]
        arrows = [(name, target) for name, _, *targets in rows for target in targets]
        yield {name: color for name, color, *_ in rows}, arrows


def color(box):
    letter = COLORS[box.role]
    return letter.lower() if box.faded else letter


@pytest.mark.parametrize("number", range(1, 9))
def test_the_picture_has_a_box_for_each_node_and_an_arrow_for_each_edge(number):
    scene, (nodes, edges) = figure(number), [*drawings()][number - 1]
    cells = [group for group in scene.groups() if group.cell]
    names = {cell.shapes[0]: cell.title.split(" = ")[0] for cell in cells}
    assert {name: color(box) for box, name in names.items()} == nodes
    assert len(cells) == len(nodes)
    actual = []
    for arrow in (shape for shape in scene.walk() if isinstance(shape, Arrow)):
        actual.append(tuple(names[box_at(arrow.points[end], names)] for end in (0, -1)))
    assert sorted(actual) == sorted(edges)
