"""Programs whose eager tapes are drawn in tests, and what a test reads off a picture."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy
from strange_loops import HOSTILE, LONG

from lab.eager import grad, np, primitive, recording, steps, unrolled
from lab.loops.gallery import loops
from visual.scene.shapes import Arrow, Box, Group, Text
from visual.scene.theme import Role

SVG = "{http://www.w3.org/2000/svg}"
A = numpy.array([1.0, 2.0, 3.0])
square = unrolled(loops["square"])
strange = primitive(lambda x, y: x * y, lambda z, x, y: [lambda g: g * y, lambda g: g * x], HOSTILE)
long_name = primitive(lambda x: x, lambda z, x: [lambda g: g], LONG)


def program(x):
    y = x * x
    z = np.sin(y) + x
    return z * y + np.exp(x)


def gather(a):
    return np.sum(a[[0, 0]] ** 2) + a[:2][1] * 6


def double(x):
    return x * x


def fan(w):
    s = w
    for _ in range(9):
        s = s * w
    return s


def long(x):
    for _ in steps(1000):
        x = np.sin(x) * 0.999
    return x


def many_tapes(x):
    for _ in range(40):
        x = x + grad(lambda y, x=x: y * y * x)(0.01)
    return x


def hostile(x):
    return strange(long_name(strange(x, 1e-300)), -1.23456789e300)


hostile.__name__ = HOSTILE

RUNS = {
    "square": lambda: recording(grad(square), 0.95),
    "second order": lambda: recording(grad(grad(square)), 0.95),
    "program": lambda: recording(grad(program), 0.7),
    "setters": lambda: recording(grad(gather), A),
    "second order, setters": lambda: recording(grad(lambda a: np.sum(grad(gather)(a) ** 2)), A),
    "closure": lambda: recording(grad(lambda x: x * grad(lambda y: x * y)(2.0)), 3.0),
    "third order": lambda: recording(grad(grad(grad(lambda x: x * x))), 2.0),
    "independent": lambda: recording(grad(lambda a: 1.0), A),
    "fan": lambda: recording(grad(fan), 1.1),
    "matrices": lambda: recording(grad(lambda w: np.sum(np.tanh(w @ A[:2]))), A[:, None] * A[:2]),
    "not finite": lambda: recording(grad(lambda x: x * numpy.inf + x * numpy.nan), 1.0),
    "hostile": lambda: recording(grad(hostile), 1.0),
    "two inner runs": lambda: recording(grad(lambda x: grad(double)(x) + grad(np.sin)(x)), 0.9),
    "nothing": lambda: recording(lambda: 1.0),
}
FOLDED = {
    "long": lambda: recording(grad(long), 0.5),
    "many tapes": lambda: recording(grad(many_tapes), 0.5),
}


def number_of(name):
    """3 for n₃."""
    digits = re.fullmatch(r"n([₀-₉]+)", name).group(1)
    return int("".join(str("₀₁₂₃₄₅₆₇₈₉".index(digit)) for digit in digits))


def at_step(scene, step):
    """All shapes that belong to a step, groups taken apart."""
    found = []

    def take(shapes, inside):
        for shape in shapes:
            if isinstance(shape, Group):
                take(shape.shapes, inside or shape.step == step)
            elif inside:
                found.append(shape)

    take(scene.shapes, False)
    return found


def cells(scene):
    """Every cell with a key: the key, what its tooltip says, and its box."""
    for group in scene.groups():
        if group.cell:
            box = next(shape for shape in group.shapes if isinstance(shape, Box))
            yield group.cell, group.title, box


def touches(point, box, slack=0.1):
    """Whether a point lies on the edge of a box."""
    x, y = point
    inside = (
        box.x - slack <= x <= box.x + box.width + slack
        and box.y - slack <= y <= box.y + box.height + slack
    )
    deep = (
        box.x + slack < x < box.x + box.width - slack
        and box.y + slack < y < box.y + box.height - slack
    )
    return inside and not deep


def crossed_texts(scene):
    """The texts that an arrow runs through, and boxes other than panels."""
    shapes = list(scene.walk())
    arrows = [shape for shape in shapes if isinstance(shape, Arrow)]
    texts = [
        (s.left, s.y - 0.75 * s.size, s.left + s.width, s.y + 0.2 * s.size, s.content)
        for s in shapes
        if isinstance(s, Text)
    ]
    texts += [
        (b.x + 1, b.y + 1, b.x + b.width - 1, b.y + b.height - 1, b.role)
        for b in shapes
        if isinstance(b, Box) and b.role is not Role.PANEL
    ]
    found = []
    for arrow in arrows:
        for (x0, y0), (x1, y1) in zip(arrow.points, arrow.points[1:], strict=False):
            for left, top, right, bottom, words in texts:
                across = max(x0, x1) > left and min(x0, x1) < right
                if across and max(y0, y1) > top and min(y0, y1) < bottom:
                    found.append(words)
    return found


def without_bookkeeping(shape):
    """The same shapes with bytes of bookkeeping masked, which differ from Python to Python."""
    if isinstance(shape, Text):
        masked = re.sub(r"[\d,]+ of bookkeeping", "some of bookkeeping", shape.content)
        return replace(shape, content=masked)
    if isinstance(shape, Box | Arrow):
        return shape
    return replace(shape, shapes=tuple(map(without_bookkeeping, shape.shapes)))


def keyed_values(scene):
    """key -> the values (as in tooltips, without the name) of all cells that have it."""
    found = {}
    for element in ElementTree.fromstring(scene.svg()).iter(f"{SVG}g"):
        key, title = element.get("data-cell"), element.find(f"{SVG}title")
        if key:
            value = title.text.rpartition(" = ")[2].partition("; entries")[0]
            found.setdefault(key, []).append(value)
    return found
