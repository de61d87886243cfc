"""What is read back from a routing picture, and compared cell by cell and arrow by arrow."""

import re

import numpy as np
import pytest
from routing_cases import came_from, expected, kinks, names

import visual
from visual.scene.shapes import Arrow, Group
from visual.scene.theme import Role

TITLE = re.compile(r"(\S+) = (\S+); (.*)", re.DOTALL)


ROLES = (Role.FIRST, Role.SECOND, Role.THIRD)


def drawn(case, **options):
    return visual.routing(case.name, case.inputs, **options, **case.metadata)


def panels(scene):
    found = [shape for shape in scene.shapes if isinstance(shape, Group)]
    assert [panel.step for panel in found] == [0, 1, 2]
    return found


def shown_in(panel):
    """name -> (value, what the tooltip says, its box, its texts, its key)."""
    found = {}
    for group in panel.shapes:
        if isinstance(group, Group) and group.cell.startswith("routing:"):
            name, value, says = TITLE.fullmatch(group.title).groups()
            box, *texts = group.shapes
            assert name not in found
            written = [text.content for text in texts]
            found[name] = (complex(value), says, box, written, group.cell)
    return found


def check_numbers(case, scene):
    """Every cell that is shown holds what numpy says."""
    for panel, known in zip(panels(scene), expected(case), strict=True):
        shown = shown_in(panel)
        assert shown.keys() <= known.keys()
        for name, (value, _, _, (label, written, _), _) in shown.items():
            assert label == name
            np.testing.assert_allclose(value, known[name], rtol=1e-6)
            assert complex(written.replace("⚠ ", "")) == pytest.approx(value, rel=1e-2)


def role_of(case, source):
    return ROLES[names(case).index(source.partition("[")[0]) % 3]


def check_marks(case, scene):
    """Who goes where, and what is on a bound: the look, the note and the tooltip of every cell."""
    sources, bound = came_from(case), kinks(case)
    readers = {}
    for index, source in sources.items():
        place = f"[{','.join(map(str, index))}]" if index else ""
        readers.setdefault(source, []).append((place, index))
    for step, panel in enumerate(panels(scene)):
        prefix = ("", "d", "g")[step]
        for name, (_, says, box, (*_, note), key) in shown_in(panel).items():
            own = name.removeprefix(prefix)
            assert key == f"routing:{own}"
            if own.partition("[")[0] == "z":
                index = tuple(map(int, re.findall(r"\d+", own)))
                source = sources[index]
                assert f"{prefix}{source}" in says.split(";")[0].split()
                assert note.endswith(f"{'→' if step == 2 else '←'} {prefix}{source}")
                assert note.startswith("kink ") == (index in bound)
                assert box.role is (Role.UNDEFINED if index in bound else role_of(case, source))
                continue
            mine = readers.get(own, [])
            for place, _ in mine[:6]:
                assert f"{prefix}z{place}" in re.split(r"[ ,;]+(?![^\[]*\])", says), says
            odd = step == 2 and box.role is Role.UNDEFINED
            if odd:
                assert case.name == "clamp"
                assert bound
            else:
                assert box.role is (role_of(case, own) if mine else Role.UNNEEDED)
            assert (note in ("→ nowhere", "← nothing")) == (not mine)
            if step < 2 and len(mine) > 1:
                assert f"{len(mine):,}" in note
            if step == 2 and len(mine) > 1 and note[:6] != "sum of":
                assert note.count("+") >= len(mine) - 1
            elif step == 2 and len(mine) > 1:
                assert note == f"sum of {len(mine):,}"


def arrows_of(panel):
    return [shape for shape in panel.shapes if isinstance(shape, Arrow)]


def row_at(found, y, right, prefix):
    """The names of the cells of the row, on one side, beside which an arrow ends."""
    return {
        name.removeprefix(prefix)
        for name, (_, _, box, *_) in found.items()
        if box.y < y < box.y + box.height
        and (name.removeprefix(prefix).partition("[")[0] == "z") == right
    }


def check_arrows(case, scene):
    """Arrows join exactly those rows between which something goes, through the lane only."""
    sources = came_from(case)
    for step, panel in enumerate(panels(scene)):
        prefix, found = ("", "d", "g")[step], shown_in(panel)
        pairs = set()
        left = max((b.x + b.width for n, (_, _, b, *_) in found.items() if "z" not in n), default=0)
        right = min((b.x for n, (_, _, b, *_) in found.items() if "z" in n), default=0)
        for arrow in arrows_of(panel):
            start, end = reversed(arrow.points) if step == 2 else arrow.points
            assert left <= start[0] < end[0] <= right
            pairs.add(
                (
                    frozenset(row_at(found, start[1], False, prefix)),
                    frozenset(row_at(found, end[1], True, prefix)),
                )
            )
        shown = {name.removeprefix(prefix) for name in found}
        wanted = set()
        for index, source in sources.items():
            target = f"z[{','.join(map(str, index))}]" if index else "z"
            if target in shown and source in shown:
                _, _, a, *_ = found[prefix + source]
                _, _, b, *_ = found[prefix + target]
                wanted.add(
                    (
                        frozenset(row_at(found, a.y + 5, False, prefix)),
                        frozenset(row_at(found, b.y + 5, True, prefix)),
                    )
                )
        assert pairs == wanted
        assert len(arrows_of(panel)) == len(pairs)
