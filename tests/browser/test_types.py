"""TypeScript, if it is installed, accepts the types in the scripts of pages."""

import shutil
import subprocess

import pytest

from visual.exercises.page import source
from visual.player.page import module
from visual.workbench.workbench import Workbench

TSC = shutil.which("tsc")
pytestmark = pytest.mark.skipif(TSC is None, reason="needs tsc to check types")
FLAGS = "--allowJs --checkJs --noEmit --target esnext --module esnext --lib esnext,dom,dom.iterable"
MODULES = {
    "workbench": lambda: str(Workbench._esm),
    "page": module,
    "exercise": source,
}


def told(script, folder):
    """Return the messages of TypeScript about a script."""
    (folder / "page.js").write_text(script, encoding="utf-8")
    command = [TSC, *FLAGS.split(), "--strict", "false", "page.js"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", MODULES)
def test_scripts_have_the_right_types(name, tmp_path):
    assert told(MODULES[name](), tmp_path) == ""


def test_a_wrong_type_is_told(tmp_path):
    wrong = "/** @param {number} a */\nfunction twice(a) {\n  return 2 * a;\n}\ntwice('two');\n"
    assert "not assignable to parameter of type 'number'" in told(wrong, tmp_path)
