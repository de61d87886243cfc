"""Compare text twins with reviewed files; and compare two runs of a program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


def assert_twin(name, scene):
    """Compare a picture or report with a file. To accept it, delete the file and run again."""
    found = scene.text() if hasattr(scene, "text") else str(scene)
    path = GOLDEN / f"{name}.txt"
    if not path.exists():
        path.write_text(found, encoding="utf-8")
        pytest.fail(f"{path} was written; read it, and commit it if it is right.")
    assert found == path.read_text(encoding="utf-8")


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
