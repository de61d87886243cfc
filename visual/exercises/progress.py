"""What a person has answered: kept in a file beside the notebook, collected by a lecturer.

    >>> kept("1: the tape of cubes")
    Answered(tries=2, points=2, done=True)

The file is ``scantape-progress.json``, or what SCANTAPE_PROGRESS names.  Pages keep the same in the
browser, and save it as the same file; ``scantape score`` makes a table of many of them.
"""

import csv
import io
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.errors import ArgumentError, first_line, quoted
from visual.scene.formats import write_whole

FILE, MOST = "scantape-progress.json", 2


@dataclass(frozen=True)
class Answered:
    """The wrong tries at a question, whether it is done with, and for how many points."""

    tries: int = 0
    points: int = 0
    done: bool = False


def path() -> Path:
    """Where it is kept."""
    return Path(os.environ.get("SCANTAPE_PROGRESS") or FILE)


def load(file: Path) -> dict[str, Answered]:
    """What a file holds, by questions; nothing without a file.  ArgumentError for another."""
    if not file.exists():
        return {}
    try:
        told = json.loads(file.read_text(encoding="utf-8"))["answers"]
        return {str(name): as_answered(one) for name, one in told.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArgumentError(
            f"{quoted(str(file))}: expected what {FILE} holds: {first_line(error)}."
        ) from error


def as_answered(told: Mapping[str, object]) -> Answered:
    """What is told of one question; TypeError or ValueError for anything else."""
    one = Answered(**told)  # type: ignore[arg-type]  # looked at here
    whole = (isinstance(n, int) and not isinstance(n, bool) for n in (one.tries, one.points))
    if not all(whole) or not isinstance(one.done, bool):
        raise ValueError("tries and points are whole numbers, done is true or false")
    if one.tries < 0 or not 0 <= one.points <= MOST:
        raise ValueError(f"tries are 0 or more, points 0 to {MOST}")
    return one


def kept(name: str) -> Answered:
    """What was answered to a question."""
    return load(path()).get(name, Answered())


def keep(answers: Mapping[str, Answered], without: Collection[str] = ()) -> None:
    """Keep what was answered to some questions, beside what is there; forget others."""
    before = load(path())
    found = {n: one for n, one in {**before, **answers}.items() if n not in without}
    if found == before:
        return
    told = {name: asdict(one) for name, one in found.items()}
    write_whole(path(), json.dumps({"scantape": 1, "answers": told}, indent=1, ensure_ascii=False))


def table(files: Iterable[Path]) -> str:
    """Points, answers and wrong tries of each file, as CSV."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("file", "points", "answered", "wrong tries"))
    for file in files:
        if not file.exists():
            raise ArgumentError(f"{quoted(str(file))}: there is no such file.")
        found = load(file).values()
        done = [one for one in found if one.done]
        points, tries = sum(one.points for one in done), sum(one.tries for one in found)
        rows.writerow((str(file), points, len(done), tries))
    return out.getvalue()
