"""Compare text twins with reviewed files; and compare two runs of a program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pictures import NEAR, arrows, distance_to_edge

from visual.scene.shapes import Box

GOLDEN = Path(__file__).parents[1] / "golden"


def assert_twin(name, scene):
    """Compare a report or a picture with a reviewed file.  To accept a change, delete the file."""
    actual = f"{scene.text()}{arrows_as_text(scene)}" if hasattr(scene, "walk") else str(scene)
    path = GOLDEN / f"{name}.txt"
    if not path.exists():
        path.write_text(actual, encoding="utf-8")
        pytest.fail(f"{path} was written; read it, and commit it if it is correct.")
    assert actual == path.read_text(encoding="utf-8")


def arrows_as_text(scene):
    """Return a line for each box from which arrows start, with the boxes at their ends."""
    named = [(g.title, s) for g in scene.groups() if g.title for s in g.shapes[:1]]
    boxes = [(title.split(" = ")[0], shape) for title, shape in named if isinstance(shape, Box)]

    def name_at(point):
        """Return the title of the box with the nearest edge; a neighbor can be near, too."""
        near = [(distance_to_edge(box, *point), title) for title, box in boxes]
        return min((pair for pair in near if pair[0] <= NEAR), default=(0, ""))[1]

    lines = {}
    for arrow in arrows(scene):
        start, end = name_at(arrow.points[0]), name_at(arrow.points[-1])
        if start and end:
            lines.setdefault(start, []).append(end)
    return "".join(f"{start} → {', '.join(ends)}\n" for start, ends in lines.items())


def printed_with_two_seeds(code):
    """Return the output of a program, after a check that two hash seeds give the same bytes."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    first, second = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert first == second
    return first
