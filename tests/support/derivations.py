"""Derivatives of gallery loops and strange loops, built once, and their derivations."""

from functools import cache

from strange_loops import LOOPS, WRT

from lab.loops import gallery
from lab.scans.graphs import scan_nodes


@cache
def derivative_of(name, order):
    """The derivative of a gallery loop or of a strange one."""
    loop = gallery.loops[name] if name in gallery.loops else LOOPS[name]
    return loop.derivative(order, **WRT.get(name, {}))


@cache
def derivations_of(name, order):
    """The derivations of all Scans of a derivative, in the order in which they run."""
    nodes = scan_nodes(list(derivative_of(name, order).values))
    found = [getattr(node.op, "derivation", None) for node in nodes]
    return tuple(derivation for derivation in found if derivation is not None)


def cells(scene):
    """(key, role, words, tooltip, step) of every cell of a picture."""
    from visual.scene.shapes import Box, Group, Text

    def walk(shapes, step=None):
        for shape in shapes:
            if isinstance(shape, Group):
                inside = step if shape.step is None else shape.step
                if shape.cell:
                    box = next(s for s in shape.shapes if isinstance(s, Box))
                    words = [s.content for s in shape.shapes if isinstance(s, Text)]
                    yield shape.cell, box.role, words, shape.title, inside
                else:
                    yield from walk(shape.shapes, inside)

    return list(walk(scene.shapes))
