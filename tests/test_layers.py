"""Data flows one way: a room imports only from rooms below it, and no file through a circle."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import lab
import visual

ROOT = Path(__file__).parent.parent

# From the ground floor up.  A room may import from itself and from what stands before it; the
# files of `lab` and `visual` themselves are the ground floor of each, in this order as well.
ROOMS = (
    "lab.errors",
    "lab.retired",
    "lab.progress",
    "lab.records",
    "lab.tape",
    "lab.notation",
    "lab.scans",
    "lab.gradients",
    "lab.traces",
    "lab.equations",
    "lab.loops.text",
    "lab.loops",
    "lab.structural",
    "lab.eager",
    "lab.checks",
    "lab.reports.tables",
    "lab.reports.explain",
    "lab.reports.breaking",
    "lab.reports.compare",
    "lab.reports.calls",
    "lab.reports.compile",
    "lab.reports.runs",
    "lab.reports",
    "lab",
    "visual.retired",
    "visual.scene",
    "visual.options",
    "visual.backends",
    "visual.layout",
    "visual.pictures.unrolled",
    "visual.pictures.tapes",
    "visual.pictures.stepgraph",
    "visual.pictures.values",
    "visual.pictures.routing",
    "visual.pictures.eager",
    "visual.pictures.machine",
    "visual.pictures",
    "visual.drawing",
    "visual.widgets",
    "visual.player",
    "visual.exercises",
    "visual.workbench",
    "visual.pages",
    "visual.cli",
    "visual",
)
FACES = ("lab", "visual")  # what one types; their stubs say from where each name comes
DRAWING = {
    "visual",
    "matplotlib",
    "typst",
    "IPython",
    "ipywidgets",
    "anywidget",
    "pygraphviz",
    "tqdm",
}
INTERNALS = {"ScanInfo", "info", "mit_mot_in_slices", "unfreeze", "make_thunk", "idx_list"}
CROWDED = 15
UNCOUNTED = {"visual/pictures", "tests/golden"}  # an entry for each picture


def modules(root, packages=FACES):
    """All modules of the packages below `root`, by their names."""
    for package in packages:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(path, known):
    """What a file imports, wherever in it, of the modules `known`; of others the module named."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports say where from"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def arrows(root):
    """For every module the modules that it imports, itself aside."""
    known = dict(modules(root))
    return {name: set(imported(path, known)) - {name} for name, path in known.items()}


def room(module):
    """The place of a module in the order of rooms."""
    while module not in ROOMS:
        module = module.rpartition(".")[0]
    return ROOMS.index(module)


def upward(graph):
    """Imports from a room above, the faces' own aside."""
    return {
        (name, other)
        for name, others in graph.items()
        for other in others
        if other.split(".")[0] in FACES and name not in FACES and room(other) > room(name)
    }


def circles(graph):
    """Modules that lie on a circle of imports: those that can reach themselves."""
    found = set()
    for start in graph:
        seen, waiting = set(), list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen and name not in FACES:
                seen.add(name)
                waiting += graph.get(name, ())
        if start in seen:
            found.add(start)
    return found


@pytest.fixture(scope="module")
def graph():
    return arrows(ROOT)


def test_a_room_imports_only_from_rooms_below_it(graph):
    assert upward(graph) == set()


def test_no_file_is_on_a_circle(graph):
    # An inner room's own __init__ loads what registers there, and is imported before any of it.
    assert circles({name: others for name, others in graph.items() if not is_room(name)}) == set()


def is_room(module):
    return (ROOT / module.replace(".", "/")).is_dir()


def test_no_file_imports_the_face_of_its_own_package(graph):
    hidden = {
        n for n, others in graph.items() if n != n.split(".")[0] and n.split(".")[0] in others
    }
    assert hidden == set()


def test_the_checkers_see_what_is_wrong(tmp_path):
    for path, text in {
        "lab/tape.py": "def f():\n    from lab.scans.node import g\n",
        "lab/scans/node.py": "TYPE_CHECKING = 0\nif TYPE_CHECKING:\n    import lab.scans.names\n",
        "lab/scans/names.py": "def f():\n    from lab.scans import node\n",
        "visual/scene/__init__.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    wrong = arrows(tmp_path)
    assert upward(wrong) == {("lab.tape", "lab.scans.node")}
    assert circles(wrong) == {"lab.scans.node", "lab.scans.names"}


def exported(path):
    """What an inner room's __init__ defines, or imports from elsewhere than its own files."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = ".".join(path.parent.relative_to(ROOT).parts)
    for node in tree.body[1:]:
        if not (isinstance(node, ast.ImportFrom) and node.module == inside):
            yield ast.unparse(node)


def test_the_init_of_a_room_says_what_is_in_it_and_exports_nothing():
    for name, path in modules(ROOT):
        if path.name != "__init__.py" or name in FACES:
            continue
        assert len(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "") > 60, name
        if not name.startswith(("lab.eager", "lab.structural")):
            assert list(exported(path)) == [], name


def test_rooms_are_not_crowded():
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "lab", "visual", "tests", "bench"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    rooms = {}
    for line in tracked.stdout.splitlines():
        parts = line.split("/")
        for depth in range(1, len(parts)):
            entry = (
                parts[depth].removesuffix("i") if parts[depth].endswith(".pyi") else parts[depth]
            )
            if entry not in ("py.typed", "retired.py"):  # a mark for type checkers; a table
                rooms.setdefault("/".join(parts[:depth]), set()).add(entry)
    crowded = {room: len(entries) for room, entries in rooms.items() if len(entries) > CROWDED}
    assert set(crowded) <= UNCOUNTED, crowded


def test_chapters_end():
    for name, path in modules(ROOT):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, name


def test_no_module_has_the_name_of_what_its_package_exports():
    for package in (lab, visual):
        stems = {path.stem for path in Path(package.__file__).parent.iterdir()}
        ours = {n for n in package.__all__ if not hasattr(getattr(package, n), "__path__")}
        assert ours & stems == set()


def test_lab_imports_nothing_of_drawing_or_jupyter(graph):
    late = {"lab.progress": {"tqdm"}}  # a bar for who waits, imported when somebody does
    for name, others in graph.items():
        if name.startswith("lab"):
            wrong = DRAWING & {other.split(".")[0] for other in others}
            assert wrong <= late.get(name, set()), name


def test_importing_both_loads_no_heavy_library():
    heavy = {
        "matplotlib",
        "typst",
        "IPython",
        "ipywidgets",
        "numba",
        "tqdm",
        "pygraphviz",
        "torch",
        "jax",
        "scipy.special",
        "lab.loops",
        "lab.equations",
    }
    heavy |= {"lab.eager", "lab.structural"}  # not heavy, but not needed either
    code = f"import sys, lab, visual; print([m for m in sys.modules if m in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr


def test_importing_the_engine_leaves_out_what_loops_do_not_need():
    code = "import sys, lab; print([m for m in sys.modules if m.startswith('lab.structural')])"
    code += "; print(lab.structural.where, lab.dot_product, lab.pushforward)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.startswith("[]\n<function where"), done.stderr


def anything(path):
    """The lines of a file on which something may be of any type; imports do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "Any"}


def test_what_may_be_anything_is_rare(tmp_path):
    files = [path for package in FACES for path in (ROOT / package).rglob("*.py*")]
    assert sum(len(anything(path)) for path in files if path.suffix in (".py", ".pyi")) <= 60
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from typing import Any\nx: dict[str, Any] = {}\ny: list[Any]\n")
    assert anything(wrong) == {2, 3}


def names(path):
    """Everything that a file calls by its name: imports, variables and attributes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def test_internals_of_pytensor_are_known_in_three_files():
    used = {name: INTERNALS & set(names(path)) for name, path in modules(ROOT)}
    assert {name: found for name, found in used.items() if found} == {
        "lab.scans.node": {"ScanInfo", "info", "mit_mot_in_slices", "unfreeze"},
        "lab.scans.slices": {"idx_list"},
        "lab.traces.run": {"make_thunk"},
    }


def test_the_checker_sees_an_internal(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("def f(node):\n    return node.op.info.n_seqs\n")
    assert INTERNALS & set(names(path)) == {"info"}


def keeps_with_a_lock(path):
    """Whether a file has the property of functools, which locks threads out; see `lab.records`."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    froms = [node for node in tree if isinstance(node, ast.ImportFrom)]
    found = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    return "functools.cached_property" in found


def test_properties_are_kept_without_a_lock(tmp_path):
    assert not [name for name, path in modules(ROOT) if keeps_with_a_lock(path)]
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from functools import cache, cached_property\n")
    assert keeps_with_a_lock(wrong)


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_everything_public_is_there_and_what_one_can_do_is_in_the_docstring(package):
    public = {name: getattr(package, name) for name in package.__all__}
    assert 25 <= len(public) <= 36
    told = set(re.findall(r"`(\w+)", package.__doc__))
    assert {name for name in public if name.islower()} - told == set()


def undeclared(root, project):
    """What files import at their heads that does not come with the plain package."""
    declared = {re.split(r"[^\w-]", one)[0].lower() for one in project["dependencies"]}
    come_from = packages_distributions()
    heads = {
        name.split(".")[0]
        for module, path in modules(root)
        if module != "visual.cli.directive"  # Sphinx imports it
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for name in head(node)
    }
    others = heads - set(FACES) - set(sys.stdlib_module_names)
    return {one for one in others if not {d.lower() for d in come_from.get(one, ())} & declared}


def head(node):
    if isinstance(node, ast.ImportFrom):
        return [node.module]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_what_is_imported_at_the_head_of_a_file_comes_with_the_plain_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert undeclared(ROOT, project) == set()
    fewer = [
        one for one in project["dependencies"] if not one.startswith(("pytensor", "traitlets"))
    ]
    assert undeclared(ROOT, {"dependencies": fewer}) == {"pytensor", "traitlets"}
