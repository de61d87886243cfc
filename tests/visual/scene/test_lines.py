"""No line of a picture runs through a text, unless a box between them is the ground of the text."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import visual
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES
from visual.scene.shapes import Arrow, Box, Polyline, Text
from visual.scene.theme import Role


def points_on(line):
    """Points of a line, at most two pixels apart where it is straight."""
    found = [np.array(line.points[:1])]
    if isinstance(line, Arrow) and line.is_curve:
        t = np.linspace(0, 1, 100)[:, None]
        corners = np.array(line.points)
        for n in range(0, len(corners) - 1, 3):
            a, b, c, d = corners[n : n + 4]
            bent = 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c
            found.append((1 - t) ** 3 * a + bent + t**3 * d)
    else:
        for a, b in pairwise(map(np.array, line.points)):
            t = np.linspace(0, 1, 2 + int(np.hypot(*(b - a)) / 2))[:, None]
            found.append(a + t * (b - a))
    return np.concatenate(found)


def crossed(scene):
    """The texts that a line runs through."""
    shapes, found = list(scene.walk()), []
    lines = [
        (n, points_on(line)) for n, line in enumerate(shapes) if isinstance(line, Arrow | Polyline)
    ]
    for number, text in enumerate(shapes):
        if not isinstance(text, Text) or not text.content.strip():
            continue
        left, right = text.left + 1, text.left + text.width - 1
        top, low = text.y - 0.62 * text.size, text.y - 0.5  # as high as an x has its letters
        for n, points in lines:
            x, y = points.T
            if not np.any((left < x) & (x < right) & (top < y) & (y < low)):
                continue
            if not any(covers(box, left, top, right, low) for box in shapes[n:number]):
                found.append(text.content)
    return found


def covers(box, left, top, right, low):
    return (
        isinstance(box, Box)
        and (box.x <= left and box.x + box.width >= right)
        and (box.y <= top and box.y + box.height >= low)
    )


@pytest.mark.sizes
@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("name", gallery.loops)
def test_no_line_runs_through_a_text(picture, name):
    for order in (1, 2, 3):
        assert crossed(visual.draw(gallery.loops[name], picture, order=order)) == []


def test_a_line_through_a_text_is_seen():
    scene = visual.draw(gallery.loops["square"], "tapes")
    title = next(shape for shape in scene.walk() if isinstance(shape, Text) and shape.bold)
    y = title.y - 3
    for line in (
        Polyline(((0, y), (title.left + 20, y))),
        Arrow(((0, y), (100, y - 60), (100, y + 60), (200, y))),
    ):
        assert title.content in crossed(replace(scene, shapes=(*scene.shapes, line)))
        below = (line, Box(0, y - 30, 800, 60, Role.PANEL), title)
        assert crossed(replace(scene, shapes=below)) == []
