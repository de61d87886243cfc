"""The nodes and arrows of the eight figures, compared with the drawings of the lesson.

A node has a name and a color: B blue (input, or gradient of an input), R red (output or seed), W
white (intermediate).  Lowercase letters mean a faded node, whose arrows do not lead to a result.
The drawings of figures 4 and 5 fade other nodes, which the illustrator selected.
"""

from itertools import pairwise

import pytest
from pictures import box_at

from visual.drawing.draw import figure
from visual.scene.shapes import Arrow
from visual.scene.theme import Role

COLORS = {Role.INPUT: "B", Role.RESULT: "B", Role.SEED: "R", Role.INTERMEDIATE: "W"}


def chain(names):
    return [*pairwise(names)]


def pairs(sources, targets):
    return list(zip(sources, targets, strict=True))


X = ["x₀", "x₁", "x₂", "x₃", "x₄"]
Z = ["z₀", "z₁", "z₂", "z₃", "z₄"]
Y = ["y₀", "y₁", "y₂", "y₃"]
DX = [f"dC/d{x}" for x in X]
DZ = [f"dC/d{z}" for z in Z]
DY = [f"dC/d{y}" for y in Y]
PX = [f"∂C/∂{x}" for x in X]
D2X = [f"dC′/d{x}" for x in X]
P2X = [f"∂C′/∂{x}" for x in X]
DDX = [f"dC′/d({dx})" for dx in DX]

FORWARD = dict(zip(X, "BWWWR", strict=True)), chain(X)
GRADIENT = (
    dict(zip(X + DX, "BWWWr" + "BWWWR", strict=True)),
    [*chain(X), *chain(DX[::-1]), *pairs(X[:4], DX[:4])],
)
# In figures 7 and 8, every state has an external gradient.
ALL_OUTPUTS = dict(zip(X, "BRRRr", strict=True))

EXPECTED = {
    1: FORWARD,
    2: GRADIENT,
    3: (dict(zip(Z + Y, "BWWWR" + "BBBB", strict=True)), [*chain(Z), *pairs(Y, Z[1:])]),
    4: (
        dict(zip(Z + Y + DZ + DY, "BWWWr" + "BBBB" + "wWWWR" + "BBBB", strict=True)),
        [
            *chain(Z),
            *pairs(Y, Z[1:]),
            *chain(DZ[::-1]),
            *pairs(Y, DZ[:4]),
            *pairs(Z[:4], DY),
            *pairs(DZ[1:], DY),
        ],
    ),
    5: (
        dict(zip([*X[:4], *DX, *DDX, *P2X[:4]], "BBBBrWWWBRWWWwBBBB", strict=True)),
        [
            *chain(DX[::-1]),  # the loop: its first state is dC/dx₄, its last dC/dx₀
            *pairs(X[:4], DX[:4]),
            *chain(DDX),  # and its reverse
            *pairs(X[:4], DDX[1:]),
            *pairs(DX[1:], P2X[:4]),
            *pairs(DDX[:4], P2X[:4]),
        ],
    ),
    6: GRADIENT,
    7: (
        ALL_OUTPUTS | dict(zip(DX + PX, "BWWWW" + "brrrR", strict=True)),
        [*GRADIENT[1], *pairs(PX, DX)],
    ),
    8: (
        ALL_OUTPUTS | dict(zip(D2X + P2X, "BWWWW" + "BRRRr", strict=True)),
        [*chain(X), *chain(D2X[::-1]), *pairs(X[:4], D2X[:4]), *pairs(P2X, D2X)],
    ),
}


def color(box):
    letter = COLORS[box.role]
    return letter.lower() if box.faded else letter


@pytest.mark.parametrize("number", EXPECTED)
def test_the_picture_has_a_box_for_each_node_and_an_arrow_for_each_edge(number):
    scene, (nodes, edges) = figure(number), EXPECTED[number]
    cells = [group for group in scene.groups() if group.cell]
    names = {cell.shapes[0]: cell.title.split(" = ")[0] for cell in cells}
    assert {name: color(box) for box, name in names.items()} == nodes
    assert len(cells) == len(nodes)
    actual = []
    for arrow in (shape for shape in scene.walk() if isinstance(shape, Arrow)):
        actual.append(tuple(names[box_at(arrow.points[end], names)] for end in (0, -1)))
    assert sorted(actual) == sorted(edges)
