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
STRANGER = 'raise SystemExit("this file must not be run")\n'
PRINT = "import warnings; warnings.simplefilter('always'); import {}; print('imported')"


def python(*words, path, before=""):
    """What a fresh Python prints that looks in `before` and `path` first, and its status."""
    done = subprocess.run(
        [sys.executable, *words], cwd=path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(before), str(path))))},
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def shadow(folder, name, is_package, text=STRANGER):
    path = folder / name / "__init__.py" if is_package else folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "is_package"), [("lab", True), ("visual", False)])
def test_the_command_names_the_file_that_shadows_a_half(tmp_path, name, is_package):
    path = shadow(tmp_path, name, is_package)
    status, out, err = python("-m", "scantape", "loops", path=tmp_path)
    assert (status, out, len(err)) == (2, [], 1)
    check_sentence(err[0])
    assert err[0].startswith(
        f"scantape: {name} = {path}: expected Scantape's package {ROOT / name}"
    )


def test_visual_names_the_file_that_shadows_lab(tmp_path):
    path = shadow(tmp_path, "lab", False)
    status, out, err = python("-c", PRINT.format("visual"), path=tmp_path)
    assert (status, out) == (1, [])
    assert err[-1].startswith(f"ImportError: lab = {path}: expected Scantape's package")


def test_visual_names_a_stranger_that_was_imported_before(tmp_path):
    path = shadow(tmp_path, "lab", False, "")
    status, _, err = python("-c", "import lab, visual", path=tmp_path)
    assert status == 1
    assert f"lab = {path}: expected" in err[-1]
    put = "import sys, types; sys.modules['lab'] = types.ModuleType('lab'); import visual"
    status, _, err = python("-c", put, path=tmp_path / "..")
    assert status == 1
    assert "lab = this session: expected" in err[-1]


def test_lab_warns_of_the_file_that_shadows_visual(tmp_path):
    path = shadow(tmp_path, "visual", True)
    status, out, err = python("-c", PRINT.format("lab"), path=tmp_path)
    assert (status, out) == (0, ["imported"])
    assert f"UserWarning: visual = {path}: expected Scantape's package" in err[0]
    assert "Rename or uninstall it" in err[0]


def test_a_package_that_was_overwritten_is_named(tmp_path):
    for half in ("lab", "visual"):
        shutil.copytree(ROOT / half, tmp_path / half, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "scantape.py", tmp_path)
    assert python("-c", PRINT.format("visual"), path=tmp_path) == (0, ["imported"], [])
    path = shadow(tmp_path, "lab", True)
    _, _, err = python("-c", PRINT.format("visual"), path=tmp_path)
    assert err[-1].startswith(f"ImportError: lab = {path}: ")
    assert "overwritten" in err[-1]
    assert "pip install --force-reinstall" in err[-1]
    status, _, err = python("-m", "scantape", path=tmp_path)
    assert (status, len(err)) == (2, 1)


def test_an_old_pytensor_is_named_with_the_way_out(tmp_path):
    shadow(tmp_path, "pytensor", True, "__version__ = '3.0.6'\n")
    for name in ("lab", "visual"):
        status, out, err = python("-c", PRINT.format(name), path=tmp_path, before=ROOT)
        assert (status, out) == (1, [])
        assert err[-1].startswith("ImportError: pytensor = 3.0.6: expected version 3.0.7")
        assert "pip install 'pytensor>=3.0.7'" in err[-1]
    status, out, err = python("-m", "scantape", "--version", path=tmp_path, before=ROOT)
    assert (status, out, len(err)) == (2, [], 1)
    assert err[0].startswith("scantape: pytensor = 3.0.6: expected version 3.0.7")
    check_sentence(err[0])


@pytest.mark.parametrize(
    ("version", "is_old"),
    [("2.38.3", True), ("3.0.7", False), ("3.1.0rc1", False), ("4.0", False), ("0+unknown", False)],
)
def test_a_newer_pytensor_is_accepted(monkeypatch, version, is_old):
    monkeypatch.setattr(pytensor, "__version__", version)
    if is_old:
        with pytest.raises(ImportError, match=r"expected version 3\.0\.7"):
            scantape.check_pytensor()
    else:
        scantape.check_pytensor()


def test_the_oldest_version_is_the_required_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = ".".join(map(str, scantape.OLDEST_PYTENSOR))
    assert f"pytensor>={oldest}" in project["dependencies"]
