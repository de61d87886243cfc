"""Text twins: pictures in plain text, compared with files that a person has read."""

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def assert_twin(name, scene):
    """To accept a change after reading it: delete the file, run again, read the new one."""
    found, path = scene.text(), GOLDEN / f"{name}.txt"
    if not path.exists():
        path.write_text(found, encoding="utf-8")
        pytest.fail(f"{path} was written; read it, and commit it if it is right.")
    assert found == path.read_text(encoding="utf-8")
