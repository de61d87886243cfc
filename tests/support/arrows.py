"""What a picture's arrows meet on their way: boxes that are not theirs, and other arrows."""

from itertools import combinations, pairwise

from visual.scene.shapes import Arrow, Box

NEAR = 3.5  # how far an arrow may end from its box


def boxes(scene):
    """The boxes of all cells."""
    cells = [group for group in scene.groups() if group.cell]
    found = [next(s for s in group.shapes if isinstance(s, Box)) for group in cells]
    assert len(found) > 1
    return found


def arrows(scene):
    return [shape for shape in scene.walk() if isinstance(shape, Arrow)]


def pieces(arrow):
    """Straight pieces from the start of an arrow to its end; a curve has many."""
    points = arrow.points
    if arrow.is_curve:
        points = [points[0]]
        for first in range(0, len(arrow.points) - 1, 3):
            a, b, c, d = arrow.points[first : first + 4]
            for n in range(1, 17):
                t = n / 16
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                points.append(
                    tuple(
                        sum(w * p[i] for w, p in zip(weights, (a, b, c, d), strict=True))
                        for i in (0, 1)
                    )
                )
    return list(pairwise(points))


def meets(piece, box, spare=1.5):
    """Whether a piece runs through the inside of a box (Liang and Barsky's clipping)."""
    (x0, y0), (x1, y1) = piece
    low, high = 0.0, 1.0
    for start, step, least, most in (
        (x0, x1 - x0, box.x + spare, box.x + box.width - spare),
        (y0, y1 - y0, box.y + spare, box.y + box.height - spare),
    ):
        if not step:
            if not least < start < most:
                return False
            continue
        a, b = sorted(((least - start) / step, (most - start) / step))
        low, high = max(low, a), min(high, b)
    return low < high


def through_boxes(scene):
    """Pairs of an arrow and a box that it runs through."""
    around, found = boxes(scene), []
    for arrow in arrows(scene):
        heights = [y for _, y in arrow.points]
        near = [b for b in around if b.y <= max(heights) and b.y + b.height >= min(heights)]
        way = pieces(arrow)
        found += [(arrow, box) for box in near if any(meets(piece, box) for piece in way)]
    return found


def box_at(point, around):
    """The box at which an arrow begins or ends."""
    x, y = point
    found = [
        box
        for box in around
        if box.x - NEAR <= x <= box.x + box.width + NEAR
        and box.y - NEAR <= y <= box.y + box.height + NEAR
    ]
    assert len(found) == 1, (point, found)
    return found[0]


def together(first, second):
    """How far two straight pieces run along one another."""
    for i, j in ((0, 1), (1, 0)):
        (a, b), (c, d) = first, second
        if a[i] == b[i] and c[i] == d[i] and abs(a[i] - c[i]) < 1:
            low = max(min(a[j], b[j]), min(c[j], d[j]))
            return min(max(a[j], b[j]), max(c[j], d[j])) - low
    return 0.0


def ambiguous(scene):
    """Pairs of arrows that share a stretch, though neither their start nor their end."""
    around = boxes(scene)
    straight = [arrow for arrow in arrows(scene) if not arrow.is_curve]
    ends = [(box_at(a.points[0], around), box_at(a.points[-1], around), a) for a in straight]
    return [
        (a, b)
        for (source, target, a), (other, to, b) in combinations(ends, 2)
        if source is not other
        and target is not to
        and any(together(p, q) > 2 for p in pairwise(a.points) for q in pairwise(b.points))
    ]
