"""Data flows one way: the engine knows nothing of drawing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lab
import visual

ROOT = Path(__file__).parent.parent
INTERNALS = {"ScanInfo", "info", "mit_mot_in_slices", "unfreeze", "make_thunk", "idx_list"}
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


def names(path):
    """Everything that a file calls by its name: imports, variables and attributes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def test_internals_of_pytensor_are_known_in_three_files():
    found = {
        path.relative_to(ROOT).as_posix(): INTERNALS & set(names(path))
        for package in ("lab", "visual")
        for path in (ROOT / package).rglob("*.py")
    }
    assert {path: used for path, used in found.items() if used} == {
        "lab/scans/node.py": {"ScanInfo", "info", "mit_mot_in_slices", "unfreeze"},
        "lab/scans/buffers.py": {"idx_list"},
        "lab/traces/run.py": {"make_thunk"},
    }


def test_the_checker_sees_an_internal(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("def f(node):\n    return node.op.info.n_seqs\n")
    assert INTERNALS & set(names(path)) == {"info"}


def keeps_with_a_lock(path):
    """Whether a file has the property of functools, which locks threads out; see `lab.records`."""
    tree = ast.walk(ast.parse(path.read_text()))
    froms = [node for node in tree if isinstance(node, ast.ImportFrom)]
    found = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    return "functools.cached_property" in found


def test_properties_are_kept_without_a_lock(tmp_path):
    paths = [path for package in ("lab", "visual") for path in (ROOT / package).rglob("*.py")]
    assert not [path.name for path in paths if keeps_with_a_lock(path)]
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from functools import cache, cached_property\n")
    assert keeps_with_a_lock(wrong)


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_everything_public_is_there_and_what_one_can_do_is_in_the_docstring(package):
    public = {name: getattr(package, name) for name in package.__all__}
    told = set(re.findall(r"`(\w+)", package.__doc__))
    assert {name for name in public if name.islower()} - told == set()


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_what_is_imported_late_is_not_named_as_a_module(package):
    """Else the module would take its place in the package as soon as it is imported."""
    late = {name for names in package._LATER.values() for name in names}
    assert late <= {*package.__all__}
    modules = {path.stem for path in Path(package.__file__).parent.glob("*.py")}
    assert late & modules == set()
