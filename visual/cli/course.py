"""The commands ``scantape lessons`` and ``scantape score``."""

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from lab.errors import LabError
from visual.cli.lessons import copy_lessons
from visual.cli.shared import Commands, show
from visual.exercises.progress import score_table


def add_command(commands: Commands) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("lessons", help="copy the lessons to a folder and open them")
    parser.add_argument("folder", metavar="FOLDER", help="target; existing files are not changed")
    parser.add_argument("--no-open", action="store_true", help="only copy them")
    parser.set_defaults(run=_lessons)
    parser = commands.add_parser("score", help="print the scores of learners as CSV")
    parser.add_argument("files", nargs="+", metavar="FILE", help="scantape-progress.json of each")
    parser.set_defaults(run=_score)


def _lessons(options: argparse.Namespace) -> None:
    folder = Path(options.folder)
    for path in copy_lessons(folder):
        show(path)
    if options.no_open:
        return
    if find_spec("jupyterlab") is None:
        raise LabError("lessons: JupyterLab is not installed; pip install 'scantape[notebook]'.")
    subprocess.run([sys.executable, "-m", "jupyterlab", str(folder / "index.ipynb")], check=False)


def _score(options: argparse.Namespace) -> None:
    scores = score_table(map(Path, options.files))
    show(scores.csv, end="")
    if scores.problems:  # after the table, so that a single file does not withhold the others
        count, most = len(scores.problems), len(options.files)
        raise LabError(f"score: {count} of {most} files cannot be read: {scores.problems[0]}")
