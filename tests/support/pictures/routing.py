"""Calls of primitives to draw, and the content of every cell by NumPy.

The checks compare pictures with NumPy cell by cell and arrow by arrow.
"""

import re
from functools import partial
from itertools import count

import numpy as np
import pytest
from structural_cases import Case, reference, reference_gradients, reference_tangent

import visual
from visual.scene.shapes import Arrow, Group, walk
from visual.scene.theme import Role

A = np.arange(6.0).reshape(2, 3)
MIXED = np.array([[True, False, True], [False, False, True]])
V = np.array([1.5, -2.0, 3.0, 4.0])
CUBE = np.arange(12.0).reshape(2, 3, 2)

ONE, TWO = np.array(1.0), np.array(2.0)
DRAWN = {
    "where, vectors": Case("where", (V, 10 * V), {"condition": V > 1.7}),
    "where, a number against a matrix": Case("where", (A, np.array(7.0)), {"condition": MIXED}),
    "where, a row": Case("where", (A, A[0]), {"condition": MIXED}),
    "where, numbers": Case("where", (ONE, TWO), {"condition": np.array(True)}),
    "where, only the condition is large": Case("where", (ONE, TWO), {"condition": MIXED}),
    "cat, vectors": Case("cat", (V[:2], V, V[:1]), {"dim": 0}),
    "cat, a negative axis": Case("cat", (A[:, :1], A, A[:, :2]), {"dim": -1}),
    "cat, an interior axis": Case("cat", (CUBE, CUBE[:, :1]), {"dim": 1}),
    "cat, one that is empty": Case("cat", (A[:0], A), {"dim": 0}),
    "cat, complex": Case("cat", (1j * V[:2], 1 + V[:1] * 1j), {"dim": 0}),
    "narrow, a vector": Case("narrow", (V,), {"dim": 0, "start": 1, "length": 2}),
    "narrow, columns": Case("narrow", (A,), {"dim": -1, "start": 1, "length": 2}),
    "narrow, nothing": Case("narrow", (A,), {"dim": 0, "start": 2, "length": 0}),
    "clamp, numbers": Case("clamp", (V, np.array(0.0), np.array(3.0))),
    "clamp, single precision": Case(
        "clamp", (V.astype("float32"), np.float32(0.1) * np.ones(1, "float32"), np.float32(3.3))
    ),
    "clamp, bounds that broadcast": Case(
        "clamp", (A, np.array([0.5, 1.5, 1.5]), np.array([[2.0], [4.5]]))
    ),
}


def names(case):
    """Return the names of the inputs in a picture."""
    if case.name == "cat":
        return [f"x{n}" for n in range(1, len(case.inputs) + 1)]
    return {"where": ["x", "y"], "narrow": ["a"], "clamp": ["x", "lo", "hi"]}[case.name]


def indexed(name, index):
    return f"{name}[{','.join(map(str, index))}]" if index else name


def numbered(case):
    """Return tangents and a cotangent with different entries."""
    numbers = count(1)
    tangents = [
        np.reshape([next(numbers) / 10 for _ in range(np.size(value))], np.shape(value)).astype(
            np.asarray(value).dtype
        )
        for value in case.inputs
    ]
    z = reference(case)
    cotangent = 10.0 * np.arange(1, z.size + 1).reshape(z.shape)
    return tangents, cotangent.astype(z.dtype)


def source_of(case):
    """Map each index of the output to the name of its input entry; NumPy moves the names."""
    labels = []
    for name, value in zip(names(case), case.inputs, strict=True):
        entries = [indexed(name, index) for index in np.ndindex(np.shape(value))]
        labels.append(np.array(entries, dtype=object).reshape(np.shape(value)))
    if case.name == "clamp":
        x, lo, hi = (np.asarray(value) for value in case.inputs)
        sources = np.where(x > hi, labels[2], np.where(x < lo, labels[1], labels[0]))
    else:
        sources = reference(case, labels)
    return {index: sources[index] for index in np.ndindex(sources.shape)}


def expected(case):
    """Return the content of each cell by name, for each step, as NumPy computes it."""
    tangents, cotangent = numbered(case)
    steps = (
        ("", case.inputs, reference(case)),
        ("d", tangents, reference_tangent(case, tangents)),
        ("g", reference_gradients(case, cotangent), cotangent),
    )
    return [
        {
            indexed(f"{prefix}{name}", index): np.asarray(value)[index]
            for name, value in zip((*names(case), "z"), (*inputs, output), strict=True)
            for index in np.ndindex(np.shape(value))
        }
        for prefix, inputs, output in steps
    ]


def kinks(case):
    """Return the output indices of a clamp at which x is on a bound."""
    if case.name != "clamp":
        return set()
    x, lo, hi = np.broadcast_arrays(*case.inputs)
    return {index for index in np.ndindex(x.shape) if x[index] in (lo[index], hi[index])}


# Read a picture.

TITLE = re.compile(r"(\S+) = (\S+); (.*)", re.DOTALL)
ROLES = (Role.FIRST, Role.SECOND, Role.THIRD)


def draw(case, **options):
    return visual.routing(case.name, case.inputs, **options, **case.metadata)


def panels(scene):
    """Return a group with the cells and arrows of each of the three steps."""
    groups = list(scene.groups())
    return [Group(tuple(g for g in groups if g.step == step), step) for step in range(3)]


def cells_in(panel):
    """Map each name to its value, the rest of its tooltip, its box, texts, and key."""
    result = {}
    for group in panel.shapes:
        if isinstance(group, Group) and group.cell.startswith("routing:"):
            name, value, note = TITLE.fullmatch(group.title).groups()
            box, *texts = group.shapes
            assert name not in result
            contents = [text.content for text in texts]
            result[name] = (complex(value), note, box, contents, group.cell)
    return result


def check_numbers(case, scene):
    """Check that every visible cell has the value by NumPy."""
    for panel, known in zip(panels(scene), expected(case), strict=True):
        cells = cells_in(panel)
        assert cells.keys() <= known.keys()
        for name, (value, _, _, (label, text, _), _) in cells.items():
            assert label == name or "…" in label
            np.testing.assert_allclose(value, known[name], rtol=1e-6)
            if "…" not in text:
                assert complex(text.replace("⚠ ", "")) == pytest.approx(value, rel=1e-2)


def role_of(case, source):
    return ROLES[names(case).index(source.partition("[")[0]) % 3]


def check_marks(case, scene):
    """Check the role, the note, and the tooltip of every cell: sources, targets, and bounds."""
    sources, bound = source_of(case), kinks(case)
    readers = {}
    for index, source in sources.items():
        readers.setdefault(source, []).append(index)
    for step, panel in enumerate(panels(scene)):
        prefix = ("", "d", "g")[step]
        for name, (_, tooltip, box, (*_, note), key) in cells_in(panel).items():
            plain_name = name.removeprefix(prefix)
            assert key == f"routing:{plain_name}"
            if plain_name.partition("[")[0] == "z":
                index = tuple(map(int, re.findall(r"\d+", plain_name)))
                source = sources[index]
                assert f"{prefix}{source}" in tooltip.split(";")[0].split()
                assert note == f"{'→' if step == 2 else '←'} {prefix}{source}" or "…" in note
                assert box.role is (Role.UNDEFINED if index in bound else role_of(case, source))
                continue
            own_readers = readers.get(plain_name, [])
            listed = re.split(r"[ ,;]+(?![^\[]*\])", tooltip)
            assert {f"{prefix}{indexed('z', index)}" for index in own_readers[:6]} <= {*listed}
            assert box.role is (role_of(case, plain_name) if own_readers else Role.UNNEEDED)
            assert (note in ("→ none", "← none")) == (not own_readers)
            if len(own_readers) > 1 and "…" not in note:
                is_sum = step == 2 and note.count("+") >= len(own_readers) - 1
                assert is_sum or f"{len(own_readers):,}" in note


def row_at(cells, prefix, y, right):
    """Return the names of the cells at the height y: of the output if `right`, else of inputs."""
    return frozenset(
        name
        for name, (_, _, box, *_) in cells.items()
        if box.y < y < box.y + box.height and name.startswith(f"{prefix}z") == right
    )


def check_arrows(case, scene):
    """Check that the arrows join each output row with its source row, and no other rows."""
    sources = source_of(case)
    for step, panel in enumerate(panels(scene)):
        prefix, cells = ("", "d", "g")[step], cells_in(panel)
        left = max((b.x + b.width for n, (_, _, b, *_) in cells.items() if "z" not in n), default=0)
        right = min((b.x for n, (_, _, b, *_) in cells.items() if "z" in n), default=0)
        rows = partial(row_at, cells, prefix)
        pairs = set()
        arrows = [shape for shape in walk(panel.shapes) if isinstance(shape, Arrow)]
        for arrow in arrows:
            start, end = reversed(arrow.points) if step == 2 else arrow.points
            assert left <= start[0] < end[0] <= right
            pairs.add((rows(start[1], False), rows(end[1], True)))
        ends = ((prefix + source, prefix + indexed("z", n)) for n, source in sources.items())
        joined = [(cells[a][2].y, cells[b][2].y) for a, b in ends if {a, b} <= cells.keys()]
        assert pairs == {(rows(a + 5, False), rows(b + 5, True)) for a, b in joined}
        assert len(arrows) == len(pairs)
