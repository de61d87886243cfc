"""`bench/mutants.py`: its faults, and the conditions for a noticed fault."""

import ast
import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
SOURCE = "def clip(x, low):\n    return low if x < low else x\n"
TEST = "from lab.small import code\n\n\ndef test_clip():\n    assert code.clip(3, 5) == 5\n"


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("mutants")


@pytest.fixture
def root(tmp_path):
    """A repository with one module, its test, and two empty test files."""
    for path, text in {
        "lab/__init__.py": "",
        "lab/small/__init__.py": "",
        "lab/small/code.py": SOURCE,
        "tests/lab/small/test_code.py": TEST,
        **dict.fromkeys(("tests/visual/test_a.py", "tests/visual/test_every_scene.py"), ""),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_faults_are_noticed_by_the_nearest_tests(mutants, root):
    tests = mutants.nearest(root, "lab/small/code.py")
    assert tests == ["tests/lab/small/test_code.py"]
    drawn = mutants.nearest(root, "visual/layout/cells.py")
    assert drawn == ["tests/visual/test_every_scene.py", "tests/visual/test_a.py"]
    verdicts = {
        SOURCE.replace("low if", "None if"): True,
        SOURCE.replace("x < low", "x <= low"): False,  # no test checks the bound
    }
    for text, noticed in verdicts.items():
        assert mutants.notice(root, "lab/small/code.py", text.encode(), tests, 20) == noticed
    assert (root / "lab/small/code.py").read_text() == SOURCE
    (root / "tests/lab/small/test_code.py").write_text(TEST.replace("== 5", "== 6"))
    with pytest.raises(SystemExit, match="fail without a fault"):
        mutants.measure(root, "lab/small", 2, 20, seed=1)


def test_faults_are_small_and_of_all_kinds(mutants, root):
    code = '''def f(a: int, b=2, *, c=True) -> "x + y":
    """Not 1 + 1."""
    if not a or b:
        return g(a[1:b], b, key=c)
    raise ValueError("a" + f"{a + b}")
'''
    (root / "lab/small/code.py").write_text(code)
    faults = [f for f in mutants.faults(root, "lab/small") if f.path.endswith("code.py")]
    assert {(f.line, f.after) for f in faults} == {
        *((1, after) for after in ("3", "False")),
        *((3, after) for after in ("not (not a or b)", "not a and b", "a")),
        *((4, after) for after in ("None", "g(a[1:b], b)", "g(a[1:b], key=c)", "2")),
        *((4, after) for after in ("1 + 1", "b + 1")),
    }
    for fault in faults:
        faulty = fault.applied(code.encode())
        assert ast.dump(ast.parse(faulty)) != ast.dump(ast.parse(code))
