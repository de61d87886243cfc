"""The commands and the Python code of the README work in an empty environment with the wheel.

The dependencies come from the environment of the tests, through a .pth file: pip needs no network.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from documents import code_blocks, commands_of

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    command
    for block in code_blocks(README, "")
    for command in commands_of(block)
    if command.startswith("scantape ")
]
WIDGETS = "import visual; visual.Workbench()._esm; visual.Question('?', 1, '!').save('one.html')"


def run(*command, **options):
    """Run a command without the settings of this environment; return its output."""
    unset = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= options.pop("env", {})
    result = subprocess.run(command, capture_output=True, text=True, env=environment, **options)
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def project_files():
    """Return the paths of the project's files, relative to its folder."""
    listed = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines()
    return [path for path in listed if (ROOT / path).is_file()]


def missing_files(wheel):
    """Return the files of the packages that a wheel does not contain."""
    contained = {name.partition(".data/data/share/scantape/")[2] or name for name in wheel}
    expected = {path for path in project_files() if path.startswith(("lab/", "visual/"))}
    return expected - contained


@dataclass
class Environment:
    """A virtual environment with the wheel only."""

    wheel: Path
    folder: Path

    def run(self, *command):
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return run(*command, cwd=self.folder, env={"PATH": path})

    @property
    def packages(self):
        (packages,) = self.folder.glob("lib/python*/site-packages")
        return packages


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    for path in project_files():
        if not path.startswith(("tests/", "bench/")):
            target = folder / "source" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, target)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
    options = ("--no-deps", "--no-index", "--no-build-isolation")
    run(*pip, "wheel", *options, "-w", str(folder), str(folder / "source"))
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", str(folder / "env"))
    env = Environment(wheel, folder / "env")
    (env.packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    install = ("--python", str(env.folder / "bin" / "python"), "install", "--no-compile")
    run(*pip, *install, *options[:2], str(wheel))
    return env


def check_user(environment):
    """Run the commands and the Python of the README, and the parts of a notebook."""
    for command in COMMANDS:
        environment.run(*command.split())
    sources = [*code_blocks(README, "python"), WIDGETS, "print(lab.__file__)"]
    *_, location = environment.run("python", "-c", "\n".join(sources)).splitlines()
    assert Path(location).is_relative_to(environment.folder), location
    assert "<svg" in (environment.folder / "film.svg").read_text(encoding="utf-8")
    assert "dC/dx" in (environment.folder / "sine.html").read_text(encoding="utf-8")
    environment.run("scantape", "lessons", "course", "--no-open")
    assert len([*(environment.folder / "course").glob("[0-9]*.ipynb")]) == 11


def test_the_wheel_contains_all_files_and_works_for_a_user(environment):
    assert len(COMMANDS) == 2
    assert missing_files(ZipFile(environment.wheel).namelist()) == set()
    check_user(environment)


def test_a_wheel_without_a_data_file_is_detected(environment):
    names = ZipFile(environment.wheel).namelist()
    module = "visual/player/machine.js"
    assert missing_files([name for name in names if name != module]) == {module}
    (environment.packages / module).unlink()
    with pytest.raises(AssertionError, match=r"machine\.js"):
        environment.run("python", "-c", WIDGETS)
