"""Another package named `lab` or `visual`, or an old PyTensor, causes a message."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytensor
import pytest
from fuzzing.outcomes import check_sentence

import scantape

ROOT = Path(scantape.__file__).parent
OLD = "__version__ = '3.0.6'\n"
STRANGER = 'raise SystemExit("this file must not be run")\n'
PRINT = "import warnings; warnings.simplefilter('always'); import {}; print('imported')"
# Create the file or package `name`, run Python, and find a line with these words.
SHADOWS = [
    ("lab", True, STRANGER, ["-m", "scantape", "loops"], 2, "scantape: lab = {path}: expected"),
    ("visual", False, STRANGER, ["-m", "scantape"], 2, "scantape: visual = {path}: expected"),
    ("lab", False, STRANGER, ["-c", PRINT.format("visual")], 1, "ImportError: lab = {path}: "),
    ("lab", False, "", ["-c", "import lab, visual"], 1, "ImportError: lab = {path}: expected"),
    ("visual", True, STRANGER, ["-c", PRINT.format("lab")], 0, "UserWarning: visual = {path}: "),
    ("pytensor", True, OLD, ["-c", PRINT.format("lab")], 1, "ImportError: pytensor = 3.0.6: "),
    ("pytensor", True, OLD, ["-c", PRINT.format("visual")], 1, "ImportError: pytensor = 3.0.6: "),
    ("pytensor", True, OLD, ["-m", "scantape"], 2, "scantape: pytensor = 3.0.6: expected version"),
]


def python(*words, path, before=""):
    """Run Python in `path`, with `before` in PYTHONPATH; return status, output, and errors."""
    result = subprocess.run(
        [sys.executable, *words], cwd=path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(before), str(path))))},
    )  # fmt: skip
    return result.returncode, result.stdout.splitlines(), result.stderr.splitlines()


def shadow(folder, name, is_package, text=STRANGER):
    path = folder / name / "__init__.py" if is_package else folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "is_package", "text", "words", "status", "start"), SHADOWS)
def test_a_file_that_shadows_a_package_is_named(
    tmp_path, name, is_package, text, words, status, start
):
    path = shadow(tmp_path, name, is_package, text)
    actual, out, err = python(*words, path=tmp_path, before=ROOT if name == "pytensor" else "")
    assert (actual, out) == (status, ["imported"] if status == 0 else [])
    (line,) = (line for line in err if start.format(path=path) in line)
    if status == 0:
        assert "Rename or uninstall it" in line
    elif name == "pytensor":
        assert "pip install 'pytensor>=3.0.7'" in line
    if status == 2:
        assert err == [line]
        check_sentence(line)


def test_visual_names_a_module_that_was_imported_before():
    code = "import sys, types; sys.modules['lab'] = types.ModuleType('lab'); import visual"
    status, _, err = python("-c", code, path=ROOT)
    assert status == 1
    assert "lab = this session: expected" in err[-1]


def test_a_package_that_was_overwritten_is_named(tmp_path):
    no_cache = shutil.ignore_patterns("__pycache__")
    for package in ("lab", "visual"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=no_cache)
    shutil.copy(ROOT / "scantape.py", tmp_path)
    assert python("-c", PRINT.format("visual"), path=tmp_path) == (0, ["imported"], [])
    path = shadow(tmp_path, "lab", True)
    _, _, err = python("-c", PRINT.format("visual"), path=tmp_path)
    assert err[-1].startswith(f"ImportError: lab = {path}: ")
    assert "overwritten" in err[-1]
    assert "pip install --force-reinstall" in err[-1]
    status, _, err = python("-m", "scantape", path=tmp_path)
    assert (status, len(err)) == (2, 1)


def test_a_newer_pytensor_is_accepted(monkeypatch):
    for version in ("3.0.7", "3.1.0rc1", "4.0", "0+unknown"):
        monkeypatch.setattr(pytensor, "__version__", version)
        scantape.check_pytensor()
    monkeypatch.setattr(pytensor, "__version__", "2.38.3")
    with pytest.raises(ImportError, match=r"expected version 3\.0\.7"):
        scantape.check_pytensor()


def test_the_oldest_version_is_the_required_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = ".".join(map(str, scantape.OLDEST_PYTENSOR))
    assert f"pytensor>={oldest}" in project["dependencies"]
