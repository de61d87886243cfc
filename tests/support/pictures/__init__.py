"""Read the cells and arrows of a picture."""

from itertools import combinations, pairwise

import numpy as np

from visual.scene.shapes import Arrow, Box, Group, Text, walk
from visual.scene.theme import Role

SVG = "{http://www.w3.org/2000/svg}"
NEAR = 3.5  # the maximum distance from the end of an arrow to its box, in pixels


# Cells and shapes.


def cell_groups(scene):
    """Yield the group, the moment, and the role of every cell, in drawing order."""

    def walk(shapes, step=None):
        for shape in shapes:
            if isinstance(shape, Group):
                inside = step if shape.step is None else shape.step
                if shape.cell:
                    yield shape, inside, next(s for s in shape.shapes if isinstance(s, Box)).role
                else:
                    yield from walk(shape.shapes, inside)

    return walk(scene.shapes)


def cells(scene):
    """Return the key, the role, the texts, the tooltip, and the moment of every cell."""
    return [
        (g.cell, role, [s.content for s in g.shapes if isinstance(s, Text)], g.title, step)
        for g, step, role in cell_groups(scene)
    ]


def words_of(shapes):
    """Return the content of all texts in shapes or in a picture, in drawing order."""
    every = shapes.walk() if hasattr(shapes, "walk") else walk(shapes)
    return [shape.content for shape in every if isinstance(shape, Text)]


def at_step(scene, step):
    """Return the shapes that belong to a step, without groups."""
    return [s for group in scene.groups() if group.step == step for s in walk(group.shapes)]


# Collisions of arrows with boxes, other arrows, and texts.


def boxes(scene):
    """Return the boxes of all cells, and of cards, which are panels with a title."""
    cells = [group for group in scene.groups() if group.cell or is_card(group)]
    result = [next(s for s in group.shapes if isinstance(s, Box)) for group in cells]
    assert len(result) > 1
    return result


def is_card(group):
    first = group.shapes[0] if group.shapes else None
    return bool(group.title) and isinstance(first, Box) and first.role is Role.PANEL


def arrows(scene):
    return [shape for shape in scene.walk() if isinstance(shape, Arrow)]


def pieces(arrow):
    """Return straight pieces from the start of an arrow to its end; a curve has many."""
    if not arrow.is_curve:
        return list(pairwise(arrow.points))
    t, points = np.linspace(1 / 16, 1, 16)[:, None], [np.array(arrow.points[:1])]
    for first in range(0, len(arrow.points) - 1, 3):
        a, b, c, d = np.array(arrow.points[first : first + 4])
        bent = 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c
        points.append((1 - t) ** 3 * a + bent + t**3 * d)
    return list(pairwise(np.concatenate(points).tolist()))


def meets(piece, box, margin=1.5):
    """Return whether a piece crosses the inside of a box (clipping by Liang and Barsky)."""
    (x0, y0), (x1, y1) = piece
    low, high = 0.0, 1.0
    for start, step, least, most in (
        (x0, x1 - x0, box.x + margin, box.x + box.width - margin),
        (y0, y1 - y0, box.y + margin, box.y + box.height - margin),
    ):
        if not step:
            if not least < start < most:
                return False
            continue
        a, b = sorted(((least - start) / step, (most - start) / step))
        low, high = max(low, a), min(high, b)
    return low < high


def through_boxes(scene):
    """Return pairs of an arrow and a box that the arrow crosses."""
    all_boxes, pairs = boxes(scene), []
    for arrow in arrows(scene):
        heights = [y for _, y in arrow.points]
        near = [b for b in all_boxes if b.y <= max(heights) and b.y + b.height >= min(heights)]
        straight = pieces(arrow)
        pairs += [(arrow, box) for box in near if any(meets(piece, box) for piece in straight)]
    return pairs


def contains(box, x, y, margin=0.0):
    """Return whether a point is in a box, or at most `margin` outside of it."""
    across = -margin <= x - box.x <= box.width + margin
    return across and -margin <= y - box.y <= box.height + margin


def distance_to_edge(box, x, y):
    """Return the distance of a point from the edge of a box, inside or outside, along an axis."""
    outside = max(box.x - x, x - box.x - box.width), max(box.y - y, y - box.y - box.height)
    return abs(max(outside))


def box_at(point, around):
    """Return the box that contains an end of an arrow."""
    matches = [box for box in around if contains(box, *point, NEAR)]
    assert len(matches) == 1, (point, matches)
    return matches[0]


def overlap(first, second):
    """Return the length in pixels along which two horizontal or two vertical pieces overlap."""
    for i, j in ((0, 1), (1, 0)):
        (a, b), (c, d) = first, second
        if a[i] == b[i] and c[i] == d[i] and abs(a[i] - c[i]) < 1:
            low = max(min(a[j], b[j]), min(c[j], d[j]))
            return min(max(a[j], b[j]), max(c[j], d[j])) - low
    return 0.0


def ambiguous(scene):
    """Return pairs of arrows that overlap, although both ends differ."""
    around = boxes(scene)
    straight = [arrow for arrow in arrows(scene) if not arrow.is_curve]
    ends = [(box_at(a.points[0], around), box_at(a.points[-1], around), a) for a in straight]
    return [
        (a, b)
        for (source, target, a), (other, to, b) in combinations(ends, 2)
        if source is not other
        and target is not to
        and any(overlap(p, q) > 2 for p in pairwise(a.points) for q in pairwise(b.points))
    ]


def touches(point, box, slack=0.1):
    """Return whether a point is on the edge of a box."""
    return contains(box, *point, slack) and not contains(box, *point, -slack)
