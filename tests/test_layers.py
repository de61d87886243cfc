"""Data flows one way: the engine knows nothing of drawing."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORBIDDEN = {"visual", "matplotlib", "IPython", "ipywidgets", "anywidget", "pygraphviz"}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_lab_imports_nothing_of_drawing():
    for path in (ROOT / "lab").rglob("*.py"):
        assert not FORBIDDEN & {name.split(".")[0] for name in imports(path)}, path.name


def test_the_checker_sees_an_import(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("def f():\n    import matplotlib.pyplot\n")
    assert FORBIDDEN & {name.split(".")[0] for name in imports(path)}


def test_importing_both_loads_no_heavy_library():
    heavy = {"matplotlib", "IPython", "ipywidgets", "numba", "tqdm", "pygraphviz", "torch", "jax"}
    heavy |= {"lab.eager", "lab.structural"}  # not heavy, but not needed either
    code = f"import sys, lab, visual; print([m for m in sys.modules if m in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr


def test_importing_the_engine_leaves_out_what_loops_do_not_need():
    code = "import sys, lab; print([m for m in sys.modules if m.startswith('lab.structural')])"
    code += "; print(lab.structural.where, lab.dot_product, lab.pushforward)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.startswith("[]\n<function where"), done.stderr


def test_layout_of_a_scan_is_known_in_one_file():
    for path in (ROOT / "lab").rglob("*.py"):
        if path.name not in ("scan.py", "run.py"):
            text = path.read_text()
            assert "mit_mot_in_slices" not in text, path.name
            assert "make_thunk" not in text, path.name
            assert "idx_list" not in text, path.name
