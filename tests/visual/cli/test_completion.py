"""What a shell completes, asked of bash as the Tab key asks it."""

import shlex
import subprocess

import pytest

from lab.loops import gallery
from visual.cli.main import main
from visual.drawing.catalogue import PICTURES

ASK = """\
cd {folder}; . ./completion
COMP_WORDS=({words} ''); COMP_CWORD=$(({count})); COMPREPLY=()
_shtab_scantape scantape '' ''
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def completed(tmp_path, capsys):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "completion").write_text(capsys.readouterr().out)

    def ask(words):
        asked = ASK.format(folder=shlex.quote(str(tmp_path)), words=words, count=len(words.split()))
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        return done.stdout.split()

    return ask


def test_names_are_completed_where_one_is_asked_for(completed):
    assert {"draw", "lessons", "completion"} <= set(completed("scantape"))
    assert completed("scantape draw") == [*PICTURES]
    assert completed("scantape draw tapes --loop") == [*gallery.loops]
    assert completed("scantape draw tapes --theme") == ["light", "dark", "print"]
    assert completed("scantape slides")[0] == "01_loop"
    assert "fibonacci" not in completed("scantape break --rule")
    assert completed("scantape draw tapes --out") == ["completion"]  # the file that is there


def test_a_name_that_is_completed_is_not_the_only_one_allowed(tmp_path, monkeypatch):
    (tmp_path / "completed_by_name.py").write_text("import lab\nloop = lab.gallery.loops['square']\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["draw", "tapes", "--loop", "completed_by_name:loop", "-o", str(tmp_path / "x.txt")]) == 0


def test_a_shell_that_is_not_known_is_refused(capsys):
    assert main(["completion", "ksh"]) == 2
    assert "ksh" in capsys.readouterr().err
