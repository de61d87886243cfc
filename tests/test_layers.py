"""The layers of the packages: imports go in one direction, and without cycles."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import lab
import visual

ROOT = Path(__file__).parent.parent

# From the lowest layer to the highest. A package imports only from itself and from earlier ones.
# Modules of `lab` and of `visual` outside a package belong to the last layer of each.
LAYERS = (
    "lab.errors", "lab.retired", "lab.progress", "lab.records", "lab.tape", "lab.notation",
    "lab.scans", "lab.gradients", "lab.traces", "lab.equations", "lab.loops.text", "lab.loops",
    "lab.structural", "lab.eager", "lab.checks", "lab.reports.tables", "lab.reports.explain",
    "lab.reports.breaking", "lab.reports.runs", "lab.reports.compare", "lab.reports.canonical",
    "lab.reports.compile", "lab.reports", "lab",
    "visual.retired", "visual.scene", "visual.options", "visual.backends", "visual.layout",
    "visual.pictures.unrolled", "visual.pictures.tapes", "visual.pictures.stepgraph",
    "visual.pictures.routing", "visual.pictures.plots", "visual.pictures.eager",
    "visual.pictures.machine", "visual.pictures", "visual.drawing", "visual.widgets",
    "visual.player", "visual.exercises", "visual.workbench", "visual.cli", "visual",
)  # fmt: skip
TOP = ("lab", "visual")  # export the public names
DRAWING = {
    *("visual", "matplotlib", "typst", "IPython", "ipywidgets", "anywidget", "pygraphviz", "tqdm")
}
HEAVY = DRAWING - {"visual"} | {
    *("numba", "torch", "jax", "scipy.special"),
    *("lab.loops", "lab.equations", "lab.eager", "lab.structural"),
}
INTERNALS = {"ScanInfo", "info", "mit_mot_in_slices", "unfreeze", "make_thunk", "idx_list"}
MOST_ENTRIES, MOST_LINES = 15, 500
WITHOUT_LIMIT = {"visual/pictures", "tests/golden"}  # one entry for each picture


@cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def modules(root, packages=TOP):
    """Yield the name and the path of each module in the packages below `root`."""
    for package in packages:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(nodes, known=()):
    """Yield imported modules. For `from a import b`: a.b if `known` contains a.b, otherwise a."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def import_graph(root):
    """Map each module to the other modules that it imports, also inside functions."""
    known = dict(modules(root))
    return {
        name: set(imports(ast.walk(parse(path)), known)) - {name} for name, path in known.items()
    }


def layer(module):
    return LAYERS.index(module) if module in LAYERS else layer(module.rpartition(".")[0])


def upward_imports(graph):
    """Return imports of a higher layer, except in the modules that export public names."""
    return {
        (name, other)
        for name, others in graph.items()
        for other in others
        if other.split(".")[0] in TOP and name not in TOP and layer(other) > layer(name)
    }


def cycle_of(graph):
    """Return the modules of a cycle of imports; empty if the graph contains none."""
    try:
        TopologicalSorter({name: others - {*TOP} for name, others in graph.items()}).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()


@pytest.fixture(scope="module")
def graph():
    return import_graph(ROOT)


def test_a_package_imports_only_from_lower_layers(graph):
    assert upward_imports(graph) == set()


def test_no_module_imports_itself_through_others_or_its_top_package(graph):
    # The __init__ of an inner package imports the modules that register themselves with it.
    files = {n: others for n, others in graph.items() if not (ROOT / n.replace(".", "/")).is_dir()}
    assert cycle_of(files) == set()
    assert [name for name in graph if "." in name and name.split(".")[0] in graph[name]] == []


def test_upward_imports_and_cycles_are_detected(tmp_path):
    for path, text in {
        "lab/tape.py": "def f():\n    from lab.scans.node import g\n",
        "lab/scans/node.py": "TYPE_CHECKING = 0\nif TYPE_CHECKING:\n    import lab.scans.names\n",
        "lab/scans/names.py": "def f():\n    from lab.scans import node\n",
        "visual/scene/__init__.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    wrong = import_graph(tmp_path)
    assert upward_imports(wrong) == {("lab.tape", "lab.scans.node")}
    assert cycle_of(wrong) == {"lab.scans.node", "lab.scans.names"}


def test_inner_packages_have_a_docstring_and_export_nothing():
    for name, path in modules(ROOT):
        if path.name != "__init__.py" or name in TOP:
            continue
        tree = parse(path)
        assert len(ast.get_docstring(tree) or "") > 60, name
        if not name.startswith(("lab.eager", "lab.structural")):
            others = [n for n in tree.body[1:] if getattr(n, "module", "") != name]
            assert [ast.unparse(node) for node in others] == [], name


def test_folders_and_modules_are_small():
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "lab", "visual", "tests", "bench"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    paths = [Path(re.sub(r"\.pyi$", ".py", line)) for line in tracked.stdout.splitlines()]
    entries = {part for path in paths for part in (path, *path.parents)}
    entries = {e for e in entries if e.name not in ("py.typed", "retired.py")}  # a marker; a table
    counts = Counter(entry.parent.as_posix() for entry in entries)
    large = {folder: count for folder, count in counts.items() if count > MOST_ENTRIES}
    assert set(large) <= WITHOUT_LIMIT, large
    for name, path in modules(ROOT):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, name


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_public_names_are_few_and_documented_and_differ_from_modules(package):
    public = {name: getattr(package, name) for name in package.__all__}
    assert 25 <= len(public) <= 36
    documented = set(re.findall(r"`(\w+)", package.__doc__))
    assert {name for name in public if name.islower()} - documented == set()
    stems = {path.stem for path in Path(package.__file__).parent.iterdir()}
    assert all(hasattr(public[name], "__path__") for name in stems & public.keys())


def test_lab_imports_neither_drawing_nor_jupyter(graph):
    late = {"lab.progress": {"tqdm"}}  # imported by a slow run
    for name, others in graph.items():
        if name.startswith("lab"):
            wrong = DRAWING & {other.split(".")[0] for other in others}
            assert wrong <= late.get(name, set()), name


def test_the_packages_load_modules_on_demand():
    code = f"import sys, lab, visual; print([m for m in sys.modules if m in {HEAVY}])"
    code += "; print(lab.structural.where, lab.dot_product, lab.pushforward)"
    code += "; tapes = visual.tapes(trace := lab.gallery.loops['square'].trace())"
    for call, unused in {"tapes.svg": "typst", "tapes.png": "matplotlib"}.items():
        code += f"; {call}(); print({unused!r} in sys.modules)"
    code += "; visual.values(trace).svg(); print('matplotlib.pyplot' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.stdout.startswith("[]\n<function where"), result.stderr
    assert result.stdout.endswith(">\nFalse\nFalse\nFalse\n"), result.stderr


def internals_of_pytensor(path):
    fields = (field for node in ast.walk(parse(path)) for field in ast.iter_fields(node))
    names = {value for field, value in fields if field in ("attr", "id", "name")}
    return INTERNALS & names


def test_only_three_modules_use_internals_of_pytensor(tmp_path):
    internals = {name: internals_of_pytensor(path) for name, path in modules(ROOT)}
    assert {name: used for name, used in internals.items() if used} == {
        "lab.scans.node": {"ScanInfo", "info", "mit_mot_in_slices", "unfreeze"},
        "lab.scans.slices": {"idx_list"},
        "lab.traces.run": {"make_thunk"},
    }
    (tmp_path / "wrong.py").write_text(
        "from a import ScanInfo\nf = lambda node: node.op.info.n_seqs"
    )
    assert internals_of_pytensor(tmp_path / "wrong.py") == {"ScanInfo", "info"}


def undeclared_imports(root, project):
    """Return top-level imports that an installation of the plain package does not include."""
    declared = {re.split(r"[^\w-]", one)[0].lower() for one in project["dependencies"]}
    providers = packages_distributions()
    imported = {
        name.split(".")[0] for module, path in modules(root) for name in imports(parse(path).body)
    }
    others = imported - set(TOP) - set(sys.stdlib_module_names)
    return {one for one in others if not {p.lower() for p in providers.get(one, ())} & declared}


def test_the_plain_package_installs_all_top_level_imports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert undeclared_imports(ROOT, project) == set()
    dependencies = project["dependencies"]
    fewer = [name for name in dependencies if not name.startswith(("pytensor", "traitlets"))]
    assert undeclared_imports(ROOT, {"dependencies": fewer}) == {"pytensor", "traitlets"}
